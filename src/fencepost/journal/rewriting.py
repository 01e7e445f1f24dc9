"""A segment written anew from entries of old ones, beside them under temporary names until it is complete and synced.

The new file has a salt of its own, so an index that belongs to the old one is stale by itself, in either order that a
crash may leave the two renames in. Nothing changes before `publish`; without room nothing changes at all.
"""

from fencepost.journal.disk import Disk, DiskFile
from fencepost.journal.frames import FRAME_HEADER_BYTES, Frame, FrameKind, checksum_seed, frame_header
from fencepost.journal.frontier import frontier_frame
from fencepost.journal.index_file import IndexHead, encode_index, write_temporary_index
from fencepost.journal.rows import OpenRows
from fencepost.journal.segment_header import (
    HEADER_BYTES,
    TEMPORARY_SUFFIX,
    SegmentHeader,
    encode_segment_header,
    index_name,
    segment_name,
)
from fencepost.journal.segment_scan import frame_row
from fencepost.types import Buffer

_BLOCK_BYTES = 1 << 20


class SegmentRewriter:
    def __init__(self, disk: Disk, *, first_position: int, salt: int, size_bytes: int) -> None:
        """`size_bytes` is the most that the segment can take."""
        self._disk = disk
        self._first_position = first_position
        self._salt = salt
        self._seed = checksum_seed(salt)
        self._names = (segment_name(first_position), index_name(first_position))
        self.discard()
        self._file: DiskFile = disk.create(self._names[0] + TEMPORARY_SUFFIX, size_bytes=size_bytes)
        self._rows = OpenRows()
        self._block: list[Buffer] = []
        self._block_place = self._end_place = HEADER_BYTES

    def add(self, frame: Frame, payload: Buffer) -> None:
        """An entry at its old position, with its old payload or a smaller one."""
        header = frame_header(
            FrameKind(frame.kind),
            seed=self._seed,
            partition_ref=frame.partition_ref,
            position=frame.position,
            pieces=(payload,),
            size_bytes=len(payload),
        )
        moved = frame._replace(place=self._end_place, payload=memoryview(payload))
        self._rows.add(frame.partition_ref, frame_row(moved))
        self._block += (header, payload)
        self._end_place += FRAME_HEADER_BYTES + len(payload)
        if self._end_place - self._block_place >= _BLOCK_BYTES:
            self._write_block()

    def complete(self, *, last_position: int, dropped_position: int) -> tuple[SegmentHeader, IndexHead]:
        """Seal and sync the segment and its index."""
        header = SegmentHeader(
            salt=self._salt,
            first_position=self._first_position,
            is_cleaned=True,
            last_position=last_position,
            dropped_position=dropped_position,
        )
        seal = frontier_frame(
            FrameKind.SEAL, salt=self._salt, seed=self._seed, position=last_position + 1, place=self._end_place
        )
        self._block.append(seal)
        self._end_place += len(seal)
        self._write_block()
        self._file.pwritev([encode_segment_header(header)], 0)
        self._file.truncate(self._end_place)
        self._file.datasync()
        self._file.close()
        pieces = encode_index(
            self._rows,
            salt=self._salt,
            first_position=self._first_position,
            last_position=last_position,
            end_place=self._end_place,
        )
        return header, write_temporary_index(self._disk, pieces, temporary_name=self._names[1] + TEMPORARY_SUFFIX)

    def publish(self) -> None:
        """Put the complete segment in the place of the old one."""
        for name in self._names:
            self._disk.rename(name + TEMPORARY_SUFFIX, name)
        self._disk.sync_folder()

    def discard(self) -> None:
        names = set(self._disk.list_names())
        for name in self._names:
            if name + TEMPORARY_SUFFIX in names:
                self._disk.unlink(name + TEMPORARY_SUFFIX)

    def _write_block(self) -> None:
        self._file.pwritev(self._block, self._block_place)
        self._block, self._block_place = [], self._end_place
