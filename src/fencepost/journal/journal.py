"""The journal: one sequence of entries in segments, committed in groups, read by partition and offset.

Positions number the entries from 1 on and never change; cleaning leaves holes. One thread owns a journal and calls
it; only `CommitGroup.write_and_sync` may run on another. Appends take memory, never the disk, unless a segment is
needed that was not prepared. After a failed sync every call raises: a later success would prove nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from fencepost.errors import InvariantBroken, invariant
from fencepost.journal.cleaning import Cleaning, CleaningPolicy
from fencepost.journal.cleaning_choice import CleaningRules, choose_segments
from fencepost.journal.commit import CommitGroup, GroupPart, Health, seal_segment, write_segment_index
from fencepost.journal.directory import Directory
from fencepost.journal.disk import Disk, DiskFile, DiskFull
from fencepost.journal.frames import CHECKPOINT_REF, FRAME_HEADER_BYTES, PAYLOAD_BYTES_MAX, FrameKind
from fencepost.journal.index_file import IndexHead
from fencepost.journal.lookup import Lookup
from fencepost.journal.open_segment import OVERHEAD_BYTES, OpenSegment
from fencepost.journal.reading import Source, read_batches
from fencepost.journal.recovery import recover
from fencepost.journal.replay import Entry, ReplayStart, checkpoints, find_replay_start, replay_entries
from fencepost.journal.retention import Retention
from fencepost.journal.rows import Row, checkpoint_row, pack_row
from fencepost.journal.salvage import salvage_folder
from fencepost.journal.sealed_segment import RecentlyUsed, SealedSegment
from fencepost.journal.segment_header import TEMPORARY_SUFFIX, SegmentHeader
from fencepost.records.header import LENGTH_END, BatchHeader
from fencepost.types import Buffer

# The settings of a journal: how large its segments are, and whether a commit waits for the disk.


SEGMENT_BYTES_MIN = 1024
SEGMENT_BYTES_MAX = 1 << 30
"""Places inside a segment are stored in 32 bits; a segment that holds one huge checkpoint may be twice this size."""


@dataclass(frozen=True, slots=True)
class JournalConfig:
    segment_bytes: int = 64 << 20
    syncs_commits: bool = True
    """False leaves it to the operating system when commits reach the disk. Segments say so about themselves, because
    recovery may then cut what a commit reported as done."""

    def __post_init__(self) -> None:
        invariant(
            SEGMENT_BYTES_MIN <= self.segment_bytes <= SEGMENT_BYTES_MAX,
            f"segment_bytes lies between {SEGMENT_BYTES_MIN} and {SEGMENT_BYTES_MAX}, not {self.segment_bytes}",
        )


__all__ = ["CommitGroup", "Entry", "Journal"]

_PREPARES_AT_RATIO = 0.5
_CHECKPOINTS_KEPT = 2
# Enum members are slow to look up and to pack, and this is the hottest path of the broker.
_BATCH = int(FrameKind.BATCH)
_CHECKPOINT = int(FrameKind.CHECKPOINT)


class Journal:
    def __init__(self, disk: Disk, config: JournalConfig, salt: Callable[[], int]) -> None:
        self._disk = disk
        self._config = config
        self._salt = salt
        self._health = Health()
        self._directory = Directory()
        self._recently_used = RecentlyUsed()
        self._open_segments: list[OpenSegment] = []
        """Written, or sealed and waiting for an index; oldest first. Appends go to the last one."""
        self._lookup = Lookup(self._directory, self._open_segments)
        self._prepared: OpenSegment | None = None
        self._prepared_count = 0
        self._in_flight: CommitGroup | None = None
        self._last_position = 0
        self._synced_position = 0
        self._cleaning: Cleaning | None = None
        self._replay_start = ReplayStart()
        self.salvaged: list[str] = []

    @classmethod
    def open(
        cls, disk: Disk, config: JournalConfig | None = None, *, salt: Callable[[], int], salvage: bool = False
    ) -> "Journal":
        """Own the folder and recover it. `salt` gives a random number of 64 bits for each new segment. With `salvage`,
        damage does not stop it: what cannot be read is given up, and `salvaged` tells what that was."""
        journal = cls(disk, config or JournalConfig(), salt)
        with ExitStack() as on_failure:
            disk.lock_owner()
            on_failure.callback(disk.unlock_owner)
            if salvage:
                journal.salvaged = salvage_folder(disk, salt=salt)
            journal._directory.replace(recover(disk, journal._recently_used))
            journal._replay_start = find_replay_start(journal._directory)
            on_failure.pop_all()
        if journal._directory.segments:
            journal._last_position = journal._synced_position = journal._directory.segments[-1].last_position
        return journal

    @property
    def last_position(self) -> int:
        """Of the last entry appended; 0 if there was never one."""
        return self._last_position

    @property
    def synced_position(self) -> int:
        return self._synced_position

    def replay(self) -> Iterator[Entry]:
        """What was there when the journal was opened: the newest good checkpoint, if there is one, and every entry
        after it."""
        return replay_entries(self._directory, self._replay_start)

    # Appending.

    def append(self, partition_ref: int, pieces: Sequence[Buffer], header: BatchHeader) -> int:
        """Take one batch, stamped, in pieces that together are its bytes; they must not change until the group is
        committed. Its position. Raises `DiskFull` before anything is taken."""
        size_bytes = sum(map(len, pieces))
        if size_bytes != header.batch_length + LENGTH_END or header.last_offset_delta < 0:
            raise InvariantBroken("the pieces together are the batch that the header describes")
        segment = self._segment_with_room(size_bytes)
        position = self._last_position + 1
        place = segment.append(_BATCH, partition_ref, position, pieces, size_bytes)
        self._last_position = position
        row = pack_row(header.base_offset, header.max_timestamp, header.last_offset_delta, place, size_bytes)
        segment.rows.add(partition_ref, row)
        return position

    def reserve(self, sizes_bytes: Sequence[int]) -> None:
        """Make sure that the next batches, of these sizes, can all be appended, or raise `DiskFull` now."""
        if sizes_bytes:
            self._segment_with_room(sum(sizes_bytes) + FRAME_HEADER_BYTES * (len(sizes_bytes) - 1))

    def append_checkpoint(self, state: Buffer) -> int:
        """Take the state that all entries so far add up to."""
        size_bytes = len(state)
        segment = self._segment_with_room(size_bytes)
        position = self._last_position + 1
        place = segment.append(_CHECKPOINT, CHECKPOINT_REF, position, (state,), size_bytes)
        self._last_position = position
        segment.rows.add(CHECKPOINT_REF, checkpoint_row(position=position, place=place, size_bytes=size_bytes))
        return position

    def _segment_with_room(self, size_bytes: int) -> OpenSegment:
        if self._health.failure is not None:
            self._health.check()
        segments = self._open_segments
        if segments and segments[-1].has_room(size_bytes):
            return segments[-1]
        return self._next_segment(size_bytes)

    def _next_segment(self, size_bytes: int) -> OpenSegment:
        invariant(size_bytes <= PAYLOAD_BYTES_MAX, f"an entry has at most {PAYLOAD_BYTES_MAX} bytes")
        if self._prepared is not None and self._prepared.has_room(size_bytes):
            segment, self._prepared = self._prepared, None
        else:
            segment = self._prepare(size_bytes)
        self._take_back_unused()
        self._open_segments.append(segment)
        return segment

    def _take_back_unused(self) -> None:
        """Each open segment but the last has entries: the next one seals it, and an empty one cannot be sealed."""
        if self._open_segments and not self._open_segments[-1].has_entries:
            self._discard_prepared()
            self._prepared = self._open_segments.pop()

    def _prepare(self, size_bytes: int) -> OpenSegment:
        """A file for the next segment, with room for an entry of that size."""
        capacity_bytes = max(self._config.segment_bytes, size_bytes + OVERHEAD_BYTES)
        temporary_name = self._temporary_name()
        return self._prepared_segment(self._disk.create(temporary_name, size_bytes=capacity_bytes))

    def _temporary_name(self) -> str:
        self._prepared_count += 1
        return f"prepared-{self._prepared_count}{TEMPORARY_SUFFIX}"

    def _prepared_segment(self, file: DiskFile) -> OpenSegment:
        return OpenSegment(
            file,
            temporary_name=file.name,
            capacity_bytes=file.size_bytes(),
            salt=self._salt(),
            is_unsynced=not self._config.syncs_commits,
        )

    def _discard_prepared(self) -> None:
        if self._prepared is not None:
            self._prepared.file.close()
            self._disk.unlink(self._prepared.temporary_name)
            self._prepared = None

    # Committing.

    def begin_commit(self) -> CommitGroup | None:
        """Everything appended so far as one group, or None if it is all committed."""
        self._health.check()
        invariant(self._in_flight is None, "one commit group is in flight at a time")
        parts = []
        for number, segment in enumerate(self._open_segments):
            if segment.has_pending:
                is_first = not segment.is_named
                seals = self._open_segments[number - 1] if is_first and number else None
                parts.append(GroupPart(segment, *segment.take_pending(), seals=seals))
        if not parts:
            return None
        prepares = self._prepared is None and self._open_segments[-1].used_ratio >= _PREPARES_AT_RATIO
        self._in_flight = CommitGroup(
            disk=self._disk,
            health=self._health,
            parts=parts,
            last_position=self._last_position,
            syncs=self._config.syncs_commits,
            unindexed=self._open_segments[:-1],
            prepared_name=self._temporary_name() if prepares else "",
            prepared_bytes=self._config.segment_bytes,
        )
        return self._in_flight

    def finish_commit(self, group: CommitGroup) -> None:
        """After `write_and_sync` returned: its entries are readable, its positions may be acknowledged."""
        self._health.check()
        invariant(group is self._in_flight, "the group that ends is the one in flight")
        self._in_flight = None
        for part in group.parts:
            part.segment.synced_place = part.end_place
        self._synced_position = group.last_position
        if group.prepared is not None:
            self._discard_prepared()
            self._prepared = self._prepared_segment(group.prepared)
        while self._open_segments[0].first_position in group.heads:
            segment = self._open_segments.pop(0)
            head = group.heads[segment.first_position]
            segment.file.close()
            self._directory.add(self._sealed_segment(segment.header, head))

    def _sealed_segment(self, header: SegmentHeader, head: IndexHead) -> SealedSegment:
        return SealedSegment(self._disk, header, head, self._recently_used)

    def commit(self) -> None:
        """All three steps, on this thread."""
        group = self.begin_commit()
        if group is not None:
            group.write_and_sync()
            self.finish_commit(group)

    # Cleaning.

    def begin_cleaning(self, policy: CleaningPolicy, *, from_position: int = 1) -> Cleaning | None:
        """The next segments to clean, from a position on; None when there is nothing more to do."""
        self._health.check()
        invariant(self._cleaning is None, "one cleaning runs at a time")
        rules = CleaningRules(policy, self.kept_checkpoints(), self._config.segment_bytes)
        choice = choose_segments(self._directory.segments, rules, from_position=from_position)
        if choice is None:
            return None
        for segment in choice.segments:
            segment.pin()
        self._cleaning = Cleaning(
            disk=self._disk,
            health=self._health,
            policy=policy,
            segments=choice.segments,
            sources=[segment.open_file() for segment in choice.segments],
            salt=self._salt(),
            kept_checkpoints=rules.kept_checkpoints,
            drops_all=choice.drops_all,
            size_bytes=choice.size_bytes,
        )
        return self._cleaning

    def finish_cleaning(self, cleaning: Cleaning) -> None:
        """After `run` returned or raised: readers see what it achieved."""
        self._health.check()
        invariant(cleaning is self._cleaning, "the cleaning that ends is the one that runs")
        self._cleaning = None
        if cleaning.is_done:
            result = cleaning.result and self._sealed_segment(*cleaning.result)
            self._directory.swap(cleaning.segments, result)
        cleaning.release()

    def kept_checkpoints(self) -> frozenset[int]:
        """The positions of the two newest synced checkpoints, apart from any that start-up could not read."""
        positions = [p for segment in reversed(self._open_segments) for p in segment.checkpoint_positions()]
        for _, row in checkpoints(self._directory):
            if len(positions) >= _CHECKPOINTS_KEPT:
                break
            if row.base_offset not in self._replay_start.unreadable:
                positions.append(row.base_offset)
        return frozenset(positions[:_CHECKPOINTS_KEPT])

    # Reading.

    def read(
        self, partition_ref: int, start_offset: int, *, end_offset: int, max_bytes: int, at_least_one: bool = True
    ) -> list[Buffer]:
        """Whole synced batches, exactly as appended, from the one that holds `start_offset` (or the next one) on, all
        of them below `end_offset`, together at most `max_bytes`, except that the first one may be larger."""
        return read_batches(
            self._sources(partition_ref, start_offset),
            partition_ref,
            start_offset=start_offset,
            end_offset=end_offset,
            max_bytes=max_bytes,
            at_least_one=at_least_one,
        )

    def _sources(self, partition_ref: int, start_offset: int) -> Iterator[Source]:
        stream = self._directory.stream(partition_ref)
        if stream is not None:
            yield from stream.segments_from(start_offset)
        yield from self._open_segments

    def size_bytes(self, partition_ref: int) -> int:
        """Of all batches of a partition, pending ones too."""
        return self._lookup.size_bytes(partition_ref)

    def first_offset(self, partition_ref: int) -> int | None:
        """The base offset of the first batch that is still there, None if there is none."""
        return self._lookup.first_offset(partition_ref)

    def offset_for_timestamp(
        self, partition_ref: int, timestamp_ms: int, *, start_offset: int = 0, end_offset: int
    ) -> Row | None:
        """The first batch with a record of that time or later that ends in the range; which record, its reader
        finds."""
        return self._lookup.offset_for_timestamp(
            partition_ref, timestamp_ms, start_offset=start_offset, end_offset=end_offset
        )

    def max_timestamp(self, partition_ref: int, *, start_offset: int = 0, end_offset: int) -> Row | None:
        """The first of the batches that end in the range that holds their largest timestamp."""
        return self._lookup.max_timestamp(partition_ref, start_offset=start_offset, end_offset=end_offset)

    def retention_start_offset(
        self, partition_ref: int, retention: Retention, *, end_offset: int, now_ms: int
    ) -> int | None:
        """The first offset that retention keeps; None if nothing of the partition may go."""
        return retention.start_offset(
            self._lookup.tables(partition_ref),
            size_bytes=self._lookup.size_bytes(partition_ref),
            end_offset=end_offset,
            now_ms=now_ms,
        )

    def close(self) -> None:
        """Commit what is pending, seal, and give the folder up; neither a commit nor a cleaning may be running. A
        journal that has stopped gives it up as it is."""
        if self._health.failure is None:
            invariant(self._in_flight is None, "no commit is in flight when a journal closes")
            self.commit()
            self._take_back_unused()
            self._discard_prepared()
            for segment in self._open_segments:
                seal_segment(segment)
                self._try_write_index(segment)
            self._disk.sync_folder()
        self.abandon()

    def abandon(self) -> None:
        """Give the folder up as it is, like a crash; neither a commit nor a cleaning may be running."""
        for segment in self._open_segments:
            segment.file.close()
        for sealed in self._directory.segments:
            sealed.close()
        self._disk.unlock_owner()

    def _try_write_index(self, segment: OpenSegment) -> None:
        try:
            write_segment_index(self._disk, segment)
        except DiskFull:
            return
