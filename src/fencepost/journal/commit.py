"""A commit group on its way to the disk. `write_and_sync` may run on any thread: it touches the disk and its own data.

For each segment that the group reaches: seal the one before (its groups are synced by then), write, sync, and give a
segment its name once its first group is synced. Only then is anything acknowledged. Indexes of sealed segments and the
file for the next segment come last; without room for them the group is done all the same.

Every step may be repeated: after `DiskFull` call `write_and_sync` again when there is room.
"""

from dataclasses import dataclass, field

from fencepost.journal.disk import Disk, DiskFile, DiskFull, SyncFailed
from fencepost.journal.index_file import IndexHead, encode_index, write_index
from fencepost.journal.open_segment import OpenSegment
from fencepost.types import Buffer

SMALL_GROUP_BYTES_MAX = 128 << 10
"""Copying that much costs less than handing each of its pieces to the operating system."""
PADDING_BYTES = 512 << 10


@dataclass(slots=True)
class Health:
    """Shared by a journal and its commits: after a failed sync nothing more is believed."""

    failure: SyncFailed | None = None

    def check(self) -> None:
        if self.failure is not None:
            raise SyncFailed(f"the journal stopped: {self.failure}")


@dataclass(slots=True)
class GroupPart:
    """What a group writes to one segment."""

    segment: OpenSegment
    pieces: list[Buffer]
    place: int
    end_place: int
    seals: OpenSegment | None = None
    """The segment before, if this is the first group of a segment."""


@dataclass(slots=True)
class CommitGroup:
    disk: Disk
    health: Health
    parts: list[GroupPart]
    last_position: int
    syncs: bool
    unindexed: list[OpenSegment]
    prepared_name: str
    """Of the file to prepare for the next segment; empty for none."""
    prepared_bytes: int
    prepared: DiskFile | None = None
    heads: dict[int, IndexHead] = field(default_factory=dict)
    """Heads of the indexes written, by the segment's first position."""

    def write_and_sync(self) -> None:
        self.health.check()
        try:
            for part in self.parts:
                if part.seals is not None:
                    seal_segment(part.seals)
                self._write(part)
            self._prepare_ahead()
        except SyncFailed as failure:
            self.health.failure = failure
            raise

    def _write(self, part: GroupPart) -> None:
        segment = part.segment
        is_small = part.end_place - part.place <= SMALL_GROUP_BYTES_MAX
        segment.file.pwritev([b"".join(part.pieces), self._padding(part)] if is_small else part.pieces, part.place)
        if self.syncs or not segment.is_named:
            segment.file.datasync()
        if not segment.is_named:
            self.disk.rename(segment.temporary_name, segment.name)
            self.disk.sync_folder()
            segment.is_named = True

    def _padding(self, part: GroupPart) -> bytes:
        """Zeros behind a small group. They change nothing in a file that is preallocated with zeros, but a group that
        overwrites blocks syncs in half the time: the file system need not note down that reserved ones are in use."""
        segment = part.segment
        if not self.syncs or part.end_place <= segment.written_place:
            return b""
        segment.written_place = min(segment.capacity_bytes, part.end_place + PADDING_BYTES)
        return bytes(segment.written_place - part.end_place)

    def _prepare_ahead(self) -> None:
        try:
            if self.prepared_name and self.prepared is None:
                self.prepared = self.disk.create(self.prepared_name, size_bytes=self.prepared_bytes)
            for segment in self.unindexed:
                if segment.is_sealed and segment.first_position not in self.heads:
                    self.heads[segment.first_position] = write_segment_index(self.disk, segment)
        except DiskFull:
            return


def seal_segment(segment: OpenSegment) -> None:
    """A seal promises that everything before it is synced, so that must be true when it is written."""
    if segment.is_sealed:
        return
    if segment.is_unsynced:
        segment.file.datasync()
    seal = segment.seal_frame()
    segment.file.pwritev([seal], segment.end_place)
    segment.file.truncate(segment.end_place + len(seal))
    segment.file.datasync()
    segment.is_sealed = True


def write_segment_index(disk: Disk, segment: OpenSegment) -> IndexHead:
    pieces = encode_index(
        segment.rows,
        salt=segment.salt,
        first_position=segment.first_position,
        last_position=segment.last_position,
        end_place=segment.file.size_bytes(),
    )
    return write_index(disk, pieces, first_position=segment.first_position)
