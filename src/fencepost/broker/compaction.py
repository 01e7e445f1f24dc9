"""What compaction leaves of a partition's batches: a plan that was made on the owner's thread and changes no more.

A plan names offsets: batches that go as a whole, records that go out of theirs, and tombstones and markers that are
seen for the first time and get a delete horizon. Batches at or above `end_offset` are left alone. Offsets stay what
they are and a batch keeps its first and its last; one that has nothing left goes. No batch may grow: where a horizon,
or another packing of the records, would make it larger, it stays as it is, and the next scan sees it as it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression
from fencepost.records.header import BatchHeader, TimestampType, read_header
from fencepost.records.reader import read_records
from fencepost.records.record import Record
from fencepost.types import Buffer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Offsets = NDArray[np.int64]
else:
    from fencepost.journal.numpy_later import np

    Offsets = object


def offsets_below(offsets: Iterable[int], end_offset: int) -> Offsets:
    """Sorted, and nobody can write to them."""
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
    # kept in the header, so a marker does not grow; nobody is shown whose clock a marker's time came from.
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
