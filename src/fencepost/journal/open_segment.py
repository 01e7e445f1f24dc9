"""The segment that is being written: its file, the bytes that wait for a commit, and its index rows in memory.

The owner's thread appends here; the thread that runs a commit touches `file` only, through what `take_pending` gave it.
The file has a temporary name until its first group is synced.
"""

from collections.abc import Sequence

from fencepost.errors import invariant
from fencepost.journal.disk import DiskFile
from fencepost.journal.frames import CHECKPOINT_REF, FRAME_HEADER_BYTES, FrameKind, checksum_seed, frame_header
from fencepost.journal.frontier import FRONTIER_FRAME_BYTES, frontier_frame
from fencepost.journal.rows import OpenRows, Row
from fencepost.journal.segment_header import HEADER_BYTES, SegmentHeader, encode_segment_header, segment_name
from fencepost.types import Buffer

OVERHEAD_BYTES = HEADER_BYTES + 2 * FRONTIER_FRAME_BYTES + FRAME_HEADER_BYTES
"""What a segment with a single entry holds besides its payload."""


class OpenSegment:
    def __init__(
        self, file: DiskFile, *, temporary_name: str, capacity_bytes: int, salt: int, is_unsynced: bool
    ) -> None:
        self.file = file
        self.temporary_name = temporary_name
        self.salt = salt
        self.seed = checksum_seed(salt)
        self.rows = OpenRows()
        self.first_position = 0
        self.last_position = 0
        self.synced_place = 0
        """Readers see what lies before it."""
        self.written_place = 0
        """The file has written blocks, not only reserved ones, before it. Only a commit touches this."""
        self.is_named = False
        self.is_sealed = False
        self.is_unsynced = is_unsynced
        self._capacity_bytes = capacity_bytes
        self._pending: list[Buffer] = []
        self._pending_place = 0
        self._end_place = 0
        self._room_end = capacity_bytes - FRAME_HEADER_BYTES - 2 * FRONTIER_FRAME_BYTES
        """A payload fits if it would end before this place without any frame around it: those are counted here, with
        its group frame and the seal."""

    @property
    def name(self) -> str:
        return segment_name(self.first_position)

    @property
    def header(self) -> SegmentHeader:
        return SegmentHeader(salt=self.salt, first_position=self.first_position, is_unsynced=self.is_unsynced)

    @property
    def end_place(self) -> int:
        return self._end_place

    @property
    def capacity_bytes(self) -> int:
        return self._capacity_bytes

    @property
    def used_ratio(self) -> float:
        return self._end_place / self._capacity_bytes

    @property
    def has_entries(self) -> bool:
        return self.last_position != 0

    @property
    def has_pending(self) -> bool:
        return bool(self._pending)

    def has_room(self, size_bytes: int) -> bool:
        return (self._end_place or HEADER_BYTES) + size_bytes <= self._room_end

    def append(self, kind: int, partition_ref: int, position: int, pieces: Sequence[Buffer], size_bytes: int) -> int:
        """Take a frame that there is room for; its place. Arguments go by position from here to the frame: names for
        them would be a tenth of the price of an append."""
        if not self._pending:
            self._begin_group(position)
        header = frame_header(kind, partition_ref, position, pieces, size_bytes, self.seed)
        place = self._end_place
        self._pending += (header, *pieces)
        self._end_place = place + FRAME_HEADER_BYTES + size_bytes
        self.last_position = position
        return place

    def _begin_group(self, position: int) -> None:
        self._pending_place = self._end_place
        if not self.has_entries:
            self.first_position = position
            self._pending.append(encode_segment_header(self.header))
            self._end_place = HEADER_BYTES
        place = self._end_place
        self._pending.append(
            frontier_frame(FrameKind.GROUP, salt=self.salt, seed=self.seed, position=position, place=place)
        )
        self._end_place = place + FRONTIER_FRAME_BYTES

    def take_pending(self) -> tuple[list[Buffer], int, int]:
        """The bytes of the finished group, where they go, and where they end."""
        pieces, self._pending = self._pending, []
        return pieces, self._pending_place, self._end_place

    def seal_frame(self) -> bytes:
        invariant(not self._pending, "a segment is sealed after its last group")
        return frontier_frame(
            FrameKind.SEAL, salt=self.salt, seed=self.seed, position=self.last_position + 1, place=self._end_place
        )

    def checkpoint_positions(self) -> list[int]:
        """Of the synced checkpoints in this segment, newest first."""
        numbers = reversed(range(self.rows.count(CHECKPOINT_REF)))
        rows = (self.rows.get(CHECKPOINT_REF, number) for number in numbers)
        return [row.base_offset for row in rows if row.place < self.synced_place]

    def select(self, partition_ref: int, *, start_offset: int, end_offset: int, max_bytes: int) -> list[Row]:
        """As `reading.Source` says; synced rows only."""
        rows = self.rows
        found: list[Row] = []
        for number in range(rows.find(partition_ref, start_offset), rows.count(partition_ref)):
            row = rows.get(partition_ref, number)
            if row.place >= self.synced_place or row.last_offset >= end_offset:
                break
            found.append(row)
            max_bytes -= row.size_bytes
            if max_bytes < 0:
                break
        return found
