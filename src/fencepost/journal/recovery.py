"""Opening a data folder: every segment is sealed afterwards, whatever the last process was doing when it ended.

Only the last segment can be unsealed. Its good frames are kept; a torn tail is cut by writing the seal over its first
bytes and ending the file behind the seal, so that nothing of the tail can come back. Appending goes on in a new
segment with a new salt. Damage below the durable frontier, and entries that are missing between segments, stop here.

Crashing in here and starting over finds the same entries: what is kept is synced before the seal vouches for it.
"""

from fencepost.errors import CorruptLog
from fencepost.journal.disk import Disk
from fencepost.journal.frames import FrameKind, checksum_seed
from fencepost.journal.frontier import find_frontier, frontier_frame
from fencepost.journal.index_file import IndexHead
from fencepost.journal.sealed_segment import RecentlyUsed, SealedSegment, read_fitting_head
from fencepost.journal.segment_header import (
    HEADER_BYTES,
    TEMPORARY_SUFFIX,
    SegmentHeader,
    decode_segment_header,
    parse_name,
    segment_name,
)
from fencepost.journal.segment_scan import SegmentScan, damage, write_scanned_index


def recover(disk: Disk, recently_used: RecentlyUsed) -> list[SealedSegment]:
    """All segments, oldest first."""
    headers = read_headers(disk)
    # A killed process leaves names that a power loss could still take back. Nothing may rest on them, least of all
    # the removal of a segment that was merged into another.
    disk.sync_folder()
    headers = _without_merged(disk, headers)
    names = _without_leftovers(disk, headers)
    segments: list[SealedSegment] = []
    for header in headers:
        if segments and header.first_position != segments[-1].last_position + 1:
            raise CorruptLog(
                f"segment {segments[-1].name} ends with entry {segments[-1].last_position} and the next one is "
                f"{segment_name(header.first_position)}: a segment file is missing. Restore it from a backup."
            )
        head = read_fitting_head(disk, header, names) or _sealed(disk, header, is_last=header is headers[-1])
        segments.append(SealedSegment(disk, header, head, recently_used))
    return segments


def read_headers(disk: Disk) -> list[SegmentHeader]:
    """The headers of all segments, in order. Changes nothing, so that a folder of another format stays as it is."""
    headers = []
    for name in disk.list_names():
        parsed = parse_name(name)
        if parsed and parsed[1] == "journal":
            file = disk.open(name)
            headers.append(decode_segment_header(file.pread(HEADER_BYTES, 0), name=name))
            file.close()
    return headers


def _without_merged(disk: Disk, headers: list[SegmentHeader]) -> list[SegmentHeader]:
    """Without the segments that cleaning merged into an earlier one and could not unlink any more."""
    kept: list[SegmentHeader] = []
    covered_position = 0
    for header in headers:
        if header.first_position <= covered_position:
            disk.unlink(segment_name(header.first_position))
            continue
        kept.append(header)
        covered_position = max(covered_position, header.last_position)
    return kept


def _without_leftovers(disk: Disk, headers: list[SegmentHeader]) -> set[str]:
    """Remove temporary files, and indexes without a segment. The names that stay."""
    segments = {header.first_position for header in headers}
    names = set()
    for name in disk.list_names():
        parsed = parse_name(name)
        if name.endswith(TEMPORARY_SUFFIX) or (parsed and parsed[0] not in segments):
            disk.unlink(name)
        else:
            names.add(name)
    return names


def _sealed(disk: Disk, header: SegmentHeader, *, is_last: bool) -> IndexHead:
    """A segment without an index: sealed if need be, and indexed."""
    file = disk.open(segment_name(header.first_position), writable=True)
    scan = SegmentScan(file, header)
    if not scan.is_sealed:
        if not is_last or header.is_cleaned or scan.last_position < header.first_position:
            raise damage(header, scan.bad_frame, scan.end_place)
        bad_place = scan.end_place
        if find_frontier(file, header, after_place=bad_place):
            raise damage(header, scan.bad_frame, bad_place)
        # A killed process leaves bytes that the seal would vouch for although no sync has seen them.
        file.datasync()
        seal = frontier_frame(
            FrameKind.SEAL,
            salt=header.salt,
            seed=checksum_seed(header.salt),
            position=scan.last_position + 1,
            place=bad_place,
        )
        file.pwritev([seal], bad_place)
        file.truncate(bad_place + len(seal))
        file.datasync()
        scan.end_place += len(seal)
    else:
        # The seal may be in memory only, left by a killed process; an index that names it must not outlive it.
        file.datasync()
    file.close()
    return write_scanned_index(disk, header, scan)
