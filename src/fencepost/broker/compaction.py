"""Compaction of a partition: a scan reads it and makes a plan, a slice at a time so that no client waits long.

A `CompactionPlan` is made on the owner's thread and changes no more; it is carried out on another. It names offsets:
batches that go as a whole, records that go out of theirs, and tombstones and markers that are seen for the first time
and get a delete horizon. Batches at or above `end_offset` are left alone. Offsets stay what they are and a batch keeps
its first and its last; one that has nothing left goes. No batch may grow: where a horizon, or another packing of the
records, would make it larger, it stays as it is, and the next scan sees it as it is.

Of each key the newest committed record below the last stable offset stays; what it shadows goes. Records of aborted
transactions shadow nothing and go. A marker outlives the data that it decides: it is dropped when no batch of its
transaction is left and its delete horizon has passed, an abort marker only after its transaction was forgotten by the
partition (`emptied_aborts` says which may be). A tombstone goes when nothing older of its key is left and its horizon
has passed. Records without a key stay.

The last batch in range shadows others and is itself left alone: a reader must be able to arrive at the end. Keys
are distinguished by a 16-byte digest. At most `keys_max` of them are held; the plan then covers what lies before, and
the next scan starts its window of keys where this one ended.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from fencepost.broker.partition_log import PartitionLog
from fencepost.journal.journal import Journal
from fencepost.partition.visibility import last_stable_offset
from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression
from fencepost.records.control import read_marker
from fencepost.records.header import BatchHeader, TimestampType, read_header
from fencepost.records.reader import read_records
from fencepost.records.record import InvalidRecordBatch, Record
from fencepost.settings import TopicSettings
from fencepost.types import Buffer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Offsets = NDArray[np.int64]
else:
    from fencepost.journal.numpy_later import np

    Offsets = object


SLICE_BYTES = 32 << 10
DIGEST_BYTES = 16
NEVER_MS = 2**63 - 1


def offsets_below(offsets: Iterable[int], end_offset: int) -> Offsets:
    """Sorted and read-only."""
    column = np.fromiter(offsets, dtype=np.int64)
    column = np.sort(column[column < end_offset])
    column.setflags(write=False)
    return column


@dataclass(frozen=True, slots=True, eq=False)
class CompactionPlan:
    end_offset: int
    dropped_batches: Offsets
    """Base offsets."""
    dropped_records: Offsets
    first_seen: Offsets
    """Tombstones and markers that have no delete horizon yet."""
    delete_horizon_ms: int
    """The horizon that they get."""

    @property
    def is_empty(self) -> bool:
        return not (len(self.dropped_batches) or len(self.dropped_records) or len(self.first_seen))

    def compact(self, batch: memoryview) -> Buffer | None:
        header = read_header(batch)
        if header.last_offset >= self.end_offset:
            return batch
        if len(_inside(self.dropped_batches, header)):
            return None
        dropped = frozenset(_inside(self.dropped_records, header).tolist())
        is_first_seen = len(_inside(self.first_seen, header)) > 0
        if not dropped and not is_first_seen:
            return batch
        records = [record for record in read_records(batch) if record.offset not in dropped]
        if not records:
            return None
        return self._rebuild(batch, header, records, is_first_seen=is_first_seen)

    def _rebuild(self, batch: memoryview, header: BatchHeader, records: list[Record], *, is_first_seen: bool) -> Buffer:
        horizon_ms = header.delete_horizon_ms
        if is_first_seen and horizon_ms is None:
            rebuilt = _thinned_out(header, records, self.delete_horizon_ms)
            if len(rebuilt) <= len(batch):
                return rebuilt
        if len(records) == header.record_count:
            return batch
        rebuilt = _thinned_out(header, records, horizon_ms)
        return rebuilt if len(rebuilt) <= len(batch) else batch


def _inside(offsets: Offsets, header: BatchHeader) -> Offsets:
    first, end = np.searchsorted(offsets, (header.base_offset, header.last_offset + 1))
    return offsets[first:end]


def _thinned_out(header: BatchHeader, records: list[Record], delete_horizon_ms: int | None) -> bytes:
    is_append_time = header.timestamp_type is TimestampType.LOG_APPEND_TIME
    # A horizon takes the place of the base timestamp, and timestamps relative to it take more bytes. Append time is
    # kept in the header, so a marker does not grow; no client sees whose clock a marker's time came from.
    is_append_time = is_append_time or (header.is_control and delete_horizon_ms is not None)
    if is_append_time and delete_horizon_ms is not None:
        records = [record._replace(timestamp_ms=delete_horizon_ms) for record in records]
    return build_batch(
        records,
        compression=Compression(header.compression),
        base_offset=header.base_offset,
        leader_epoch=header.leader_epoch,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        is_transactional=header.is_transactional,
        is_control=header.is_control,
        append_time_ms=header.max_timestamp if is_append_time else None,
        delete_horizon_ms=delete_horizon_ms,
        last_offset_delta=header.last_offset_delta,
    )


@dataclass(slots=True)
class Tombstone:
    header_horizon_ms: int | None
    is_bare: bool
    """Whether nothing older of its key is left."""


class AbortedRange(NamedTuple):
    first_offset: int
    marker_offset: int


@dataclass(slots=True)
class CompactionMemory:
    """What the broker remembers of a partition between two scans. Losing it costs time, never data."""

    horizons_ms: dict[int, int] = field(default_factory=dict)
    """By the offset of a tombstone whose batch could not take a horizon into its header."""
    window_start: int = 0
    scanned_end_offset: int = -1
    due_ms: int = 0
    """When a scan could find more to do, even if nothing is written meanwhile."""
    planned_size_bytes: int = -1


class CompactionScan:
    """Drive `steps` to its end, then ask for `plan`."""

    def __init__(
        self,
        journal: Journal,
        log: PartitionLog,
        memory: CompactionMemory,
        *,
        settings: TopicSettings,
        keys_max: int,
        now_ms: int,
    ) -> None:
        self.log = log
        self.emptied_aborts: list[int] = []
        """Offsets of abort markers whose transactions have no batch left."""
        self._journal = journal
        self._memory = memory
        self._settings = settings
        self._keys_max = keys_max
        self._now_ms = now_ms
        self._start_offset = log.state.log_start_offset
        self._limit = last_stable_offset(log.state)
        is_window_past = memory.window_start >= self._limit
        self._window_start = self._start_offset if is_window_past else max(memory.window_start, self._start_offset)
        self._aborted = _aborted_ranges(log)
        self._abort_markers = frozenset(log.state.aborted.marker_offsets)
        self._end_offset = self._start_offset
        self._newest: dict[bytes, int] = {}
        self._shadowed = array("q")
        self._tombstones: dict[int, Tombstone] = {}
        self._producers_with_data: set[int] = set()
        self._dropped_batches = array("q")
        self._first_seen_markers = array("q")
        self._scanned_bytes = self._scanned_records = 0
        self._gain_batch_bytes = self._gain_records = 0
        self._due_ms = NEVER_MS
        self._is_full = False

    def steps(self) -> Iterator[None]:
        yield from self._read_window()
        yield from self._look_before_window()

    def _read_window(self) -> Iterator[None]:
        for batches in self._slices(self._start_offset, self._limit):
            for batch in batches:
                header = read_header(batch)
                if not self._admit(header):
                    return
                self._end_offset = header.base_offset
                self._see(header, batch)
            yield

    def _look_before_window(self) -> Iterator[None]:
        """What lies before the window is shadowed by it."""
        for batches in self._slices(self._start_offset, min(self._window_start, self._end_offset)):
            for batch in batches:
                header = read_header(batch)
                if header.is_control or self._is_aborted(header):
                    continue
                for record in _keyed_records(batch):
                    newest = self._newest.get(_digest(record))
                    if newest is not None and newest > record.offset:
                        self._shadow(record.offset, by_offset=newest)
            yield

    def _slices(self, start_offset: int, end_offset: int) -> Iterator[list[Buffer]]:
        ref = self.log.partition_ref
        while start_offset < end_offset:
            batches = self._journal.read(ref, start_offset, end_offset=end_offset, max_bytes=SLICE_BYTES)
            if not batches:
                return
            start_offset = read_header(batches[-1]).last_offset + 1
            yield batches

    def _admit(self, header: BatchHeader) -> bool:
        """Whether the scan goes on with this batch: it is old enough, and there is room for its keys."""
        lag_ms = self._settings.min_compaction_lag_ms
        if lag_ms and header.max_timestamp + lag_ms > self._now_ms:
            self._due_ms = min(self._due_ms, header.max_timestamp + lag_ms)
            return False
        self._is_full = bool(self._newest) and len(self._newest) + header.record_count > self._keys_max
        return not self._is_full

    def _see(self, header: BatchHeader, batch: Buffer) -> None:
        self._scanned_bytes += len(batch)
        self._scanned_records += header.record_count
        if header.is_control:
            self._see_control(header, batch)
            return
        if header.is_transactional:
            self._producers_with_data.add(header.producer_id)
        if self._is_aborted(header):
            self._drop_batch(header)
        elif header.last_offset >= self._window_start:
            for record in _keyed_records(batch):
                self._see_record(header, record)

    def _see_record(self, header: BatchHeader, record: Record) -> None:
        digest = _digest(record)
        older = self._newest.get(digest)
        self._newest[digest] = record.offset
        if record.value is None:
            self._tombstones[record.offset] = Tombstone(header.delete_horizon_ms, is_bare=True)
        if older is not None:
            self._shadow(older, by_offset=record.offset)

    def _shadow(self, offset: int, *, by_offset: int) -> None:
        self._shadowed.append(offset)
        self._tombstones.pop(offset, None)
        if by_offset in self._tombstones:
            self._tombstones[by_offset].is_bare = False

    def _see_control(self, header: BatchHeader, batch: Buffer) -> None:
        has_data = header.producer_id in self._producers_with_data
        self._producers_with_data.discard(header.producer_id)
        if has_data or read_marker(batch) is None:
            return
        is_in_index = header.base_offset in self._abort_markers
        if is_in_index:
            self.emptied_aborts.append(header.base_offset)
        horizon_ms = header.delete_horizon_ms
        if horizon_ms is None:
            self._first_seen_markers.append(header.base_offset)
            self._gain_batch_bytes += header.size_bytes
            self._due_ms = min(self._due_ms, self._horizon_ms)
        elif horizon_ms > self._now_ms or is_in_index:
            self._due_ms = min(self._due_ms, horizon_ms)
        else:
            self._drop_batch(header)

    def _is_aborted(self, header: BatchHeader) -> bool:
        if not header.is_transactional:
            return False
        ranges = self._aborted.get(header.producer_id, [])
        number = bisect_right(ranges, header.base_offset, key=attrgetter("first_offset"))
        return number > 0 and header.base_offset < ranges[number - 1].marker_offset

    def _drop_batch(self, header: BatchHeader) -> None:
        self._dropped_batches.append(header.base_offset)
        self._gain_batch_bytes += header.size_bytes

    @property
    def _horizon_ms(self) -> int:
        return self._now_ms + self._settings.delete_retention_ms

    def plan(self) -> CompactionPlan:
        """What to do, given all that was read; the memory is brought up to date."""
        expired, first_seen = self._judge_tombstones()
        memory = self._memory
        memory.window_start = self._end_offset if self._is_full else 0
        memory.scanned_end_offset = self.log.state.end_offset
        memory.due_ms = self._now_ms if self._is_full else self._due_ms
        memory.planned_size_bytes = self._journal.size_bytes(self.log.partition_ref)
        return CompactionPlan(
            end_offset=self._end_offset,
            dropped_batches=offsets_below(self._dropped_batches, self._end_offset),
            dropped_records=offsets_below([*self._shadowed, *expired], self._end_offset),
            first_seen=offsets_below([*self._first_seen_markers, *first_seen], self._end_offset),
            delete_horizon_ms=self._horizon_ms,
        )

    def _judge_tombstones(self) -> tuple[list[int], list[int]]:
        """Those whose time is over, and those that have no horizon in their batch."""
        expired, first_seen = [], []
        horizons_ms: dict[int, int] = {}
        for offset, tombstone in self._tombstones.items():
            horizon_ms = tombstone.header_horizon_ms
            if horizon_ms is None:
                first_seen.append(offset)
                horizon_ms = self._memory.horizons_ms.get(offset, self._horizon_ms)
                if tombstone.is_bare:
                    horizons_ms[offset] = horizon_ms
            if tombstone.is_bare and horizon_ms <= self._now_ms:
                expired.append(offset)
            else:
                self._due_ms = min(self._due_ms, horizon_ms)
        new_count = sum(offset not in self._memory.horizons_ms for offset in first_seen)
        self._gain_records = len(self._shadowed) + len(expired) + new_count
        self._memory.horizons_ms = horizons_ms
        return expired, first_seen

    @property
    def gain_bytes(self) -> int:
        """About how much the plan frees, now or later through the horizons that it sets."""
        return self._gain_batch_bytes + self._gain_records * self._scanned_bytes // max(1, self._scanned_records)


def _aborted_ranges(log: PartitionLog) -> dict[int, list[AbortedRange]]:
    """By producer id. A copy: the partition may forget some while the scan goes on."""
    ranges: dict[int, list[AbortedRange]] = {}
    producer_ids, first_offsets, marker_offsets, _ = log.state.aborted.columns()
    for producer_id, *offsets in zip(producer_ids, first_offsets, marker_offsets, strict=True):
        ranges.setdefault(producer_id, []).append(AbortedRange(*offsets))
    return ranges


def _keyed_records(batch: Buffer) -> list[Record]:
    """None for a batch that cannot be read: it stays, for its keys are not known."""
    try:
        return [record for record in read_records(batch) if record.key is not None]
    except InvalidRecordBatch:
        return []


def _digest(record: Record) -> bytes:
    return blake2b(record.key or b"", digest_size=DIGEST_BYTES).digest()
