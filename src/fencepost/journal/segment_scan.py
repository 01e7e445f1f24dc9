"""A segment read from its header to its seal, frame by frame, every frame where it must be.

What stops a scan is for its caller to judge: at the end of the last segment it is a torn tail, anywhere else damage.
"""

from fencepost.errors import CorruptLog
from fencepost.journal.disk import Disk, DiskFile
from fencepost.journal.frames import CHECKPOINT_REF, Frame, FrameKind, checksum_seed, scan_frames
from fencepost.journal.frontier import find_frontier, is_true_frontier
from fencepost.journal.index_file import IndexHead, encode_index, write_index
from fencepost.journal.rows import OpenRows, batch_row, checkpoint_row
from fencepost.journal.segment_header import HEADER_BYTES, SegmentHeader, segment_name
from fencepost.records.header import HEADER_BYTES as BATCH_HEADER_BYTES
from fencepost.records.header import read_header


class SegmentScan:
    """What a scan of one segment finds: rows of its good entries, and how it ends."""

    def __init__(self, file: DiskFile, header: SegmentHeader) -> None:
        self.rows = OpenRows()
        self.end_place = HEADER_BYTES
        """Where the good part ends; behind the seal if there is one."""
        self.last_position = header.first_position - 1
        self.is_sealed = False
        self.bad_frame: Frame | None = None
        self._file = file
        self._header = header
        end_place = file.size_bytes()
        for frame in scan_frames(file, seed=checksum_seed(header.salt), place=HEADER_BYTES, end_place=end_place):
            fault = frame.fault or self._misplacement(frame)
            if fault and not self._is_lost_checkpoint(frame):
                self.bad_frame = frame._replace(fault=fault)
                return
            self._take(frame)
            if self.is_sealed:
                return

    def _is_lost_checkpoint(self, frame: Frame) -> bool:
        """A checkpoint below the frontier whose payload is damaged: there is an older one, so it stops nothing."""
        if frame.kind != FrameKind.CHECKPOINT or not frame.fault or self._misplacement(frame):
            return False
        return find_frontier(self._file, self._header, after_place=frame.end_place - 1) is not None

    def _misplacement(self, frame: Frame) -> str:
        """Why a frame with a good header cannot stand here."""
        if frame.kind == FrameKind.UNREADABLE:
            return frame.fault
        if frame.kind in (FrameKind.GROUP, FrameKind.SEAL):
            is_next = frame.position == self.last_position + 1 or self._header.is_cleaned
            return (
                "" if is_next and is_true_frontier(frame, salt=self._header.salt) else "a frontier frame out of place"
            )
        if self._header.is_cleaned:
            is_next = self.last_position < frame.position <= self._header.last_position
        else:
            is_next = frame.position == self.last_position + 1
        if not is_next:
            return f"entry {frame.position} follows entry {self.last_position}"
        if frame.kind == FrameKind.CHECKPOINT:
            return ""
        is_batch = frame.kind == FrameKind.BATCH and len(frame.payload) >= BATCH_HEADER_BYTES
        return "" if is_batch else f"a frame of unknown kind {frame.kind}"

    def _take(self, frame: Frame) -> None:
        self.end_place = frame.end_place
        if frame.kind == FrameKind.SEAL:
            self.is_sealed = True
        elif frame.kind != FrameKind.GROUP:
            self.last_position = frame.position
            if not frame.fault:
                self.rows.add(frame.partition_ref, frame_row(frame))


def frame_row(frame: Frame) -> bytes:
    size_bytes = len(frame.payload)
    if frame.partition_ref == CHECKPOINT_REF:
        return checkpoint_row(position=frame.position, place=frame.place, size_bytes=size_bytes)
    batch = read_header(frame.payload)
    return batch_row(
        base_offset=batch.base_offset,
        last_offset=batch.last_offset,
        max_timestamp=batch.max_timestamp,
        place=frame.place,
        size_bytes=size_bytes,
    )


def damage(header: SegmentHeader, frame: Frame | None, end_place: int) -> CorruptLog:
    place = frame.place if frame else end_place
    fault = frame.fault if frame else "the file ends before its seal"
    if frame and frame.kind == FrameKind.BATCH:
        partition = f"partition reference {frame.partition_ref}"
    elif frame and frame.kind == FrameKind.CHECKPOINT:
        partition = "a state checkpoint, no partition"
    else:
        partition = "partition unknown"
    return CorruptLog(
        f"segment {segment_name(header.first_position)}, byte {place}, {partition}: {fault}, below what was synced. "
        "Restore the data folder from a backup, or open it with salvage, which drops what cannot be read and says what."
    )


def rebuild_index(disk: Disk, file: DiskFile, header: SegmentHeader) -> IndexHead:
    """Write the index of a sealed segment anew. A bad frame on the way to the seal is damage."""
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
