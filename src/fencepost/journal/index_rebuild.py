"""An index from its segment. A bad frame on the way to the seal is damage."""

from fencepost.journal.disk import Disk, DiskFile
from fencepost.journal.index_file import IndexHead, encode_index, write_index
from fencepost.journal.segment_header import SegmentHeader
from fencepost.journal.segment_scan import SegmentScan, damage


def rebuild_index(disk: Disk, file: DiskFile, header: SegmentHeader) -> IndexHead:
    """Write the index of a sealed segment anew."""
    scan = SegmentScan(file, header)
    if not scan.is_sealed:
        raise damage(header, scan.bad_frame, scan.end_place)
    return write_scanned_index(disk, header, scan)


def write_scanned_index(disk: Disk, header: SegmentHeader, scan: SegmentScan) -> IndexHead:
    pieces = encode_index(
        scan.rows,
        salt=header.salt,
        first_position=header.first_position,
        last_position=header.last_position if header.is_cleaned else scan.last_position,
        end_place=scan.end_place,
    )
    return write_index(disk, pieces, first_position=header.first_position)
