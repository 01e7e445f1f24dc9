"""One partition as the broker holds it, and the one place where the journal grows: stamp, append, fold.

Appending changes state at once; readers see it when it is synced. Every append is all or nothing: if the journal has
no room (`DiskFull`), nothing was appended and nothing was folded. Several that belong together are reserved first.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from fencepost.journal.journal import Journal
from fencepost.partition.apply import apply_batch, apply_synced
from fencepost.partition.partition import LEADER_EPOCH, PartitionState
from fencepost.records.builder import build_batch
from fencepost.records.control import ControlMarker
from fencepost.records.header import STAMP_BYTES, BatchHeader, read_header, stamp
from fencepost.records.record import Record
from fencepost.types import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, Buffer, TopicPartition

if TYPE_CHECKING:
    from fencepost.broker.parked_fetches import ParkedFetch


Follower = Callable[[BatchHeader, Buffer, ControlMarker | None], None]
"""Folds what is inside the batches of an internal topic into the coordinator that lives on it."""


@dataclass(slots=True, eq=False)
class PartitionLog:
    """Its address in the journal, its state, and the fetches that wait for it to grow."""

    partition_ref: int
    topic_partition: TopicPartition
    state: PartitionState = field(default_factory=PartitionState)
    follower: Follower | None = None
    parked: "dict[ParkedFetch, None]" = field(default_factory=dict)


class PendingAppend(NamedTuple):
    """A batch that was decided on. `marker` says what a control batch means."""

    log: PartitionLog
    batch: Buffer
    marker: ControlMarker | None = None


class LogWriter:
    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.appended_bytes = 0
        self._committing_bytes = 0
        self._synced_bytes = 0
        self._grown: dict[PartitionLog, int] = {}
        self._committing: dict[PartitionLog, int] = {}

    def reserve(self, appends: Iterable[PendingAppend]) -> None:
        """Make sure that all of these fit, or raise `DiskFull`."""
        self.journal.reserve([len(append.batch) for append in appends])

    def reserve_records(self, batches: Iterable[Sequence[Record]]) -> None:
        """The same for records that `append_records` will take, one batch after the other."""
        self.journal.reserve([len(build_batch(records)) for records in batches])

    def append(self, append: PendingAppend, *, is_followed: bool = True) -> None:
        """`is_followed` is False when the caller folds the records in itself, because it knows more than their
        bytes."""
        self._append(append.log, append.batch, read_header(append.batch), append.marker, is_followed=is_followed)

    def append_batch(self, log: PartitionLog, batch: Buffer, header: BatchHeader) -> int:
        """Append a client's batch. Returns its base offset."""
        return self._append(log, batch, header, None, is_followed=False)

    def append_records(
        self,
        log: PartitionLog,
        records: Sequence[Record],
        *,
        producer_id: int = NO_PRODUCER_ID,
        producer_epoch: int = NO_PRODUCER_EPOCH,
    ) -> None:
        """Append records of a coordinator; with a producer id they belong to its transaction."""
        is_transactional = producer_id != NO_PRODUCER_ID
        batch = build_batch(
            records, producer_id=producer_id, producer_epoch=producer_epoch, is_transactional=is_transactional
        )
        self._append(log, batch, read_header(batch), None, is_followed=True)

    def _append(
        self, log: PartitionLog, batch: Buffer, header: BatchHeader, marker: ControlMarker | None, *, is_followed: bool
    ) -> int:
        state = log.state
        base_offset = state.end_offset
        stamped_header = header._replace(base_offset=base_offset, leader_epoch=LEADER_EPOCH)
        pieces: list[Buffer] = [stamp(stamped_header), memoryview(batch)[STAMP_BYTES:]]
        self.journal.append(log.partition_ref, pieces, stamped_header)
        self.appended_bytes += len(batch)
        apply_batch(state, stamped_header, marker)
        self._grown[log] = state.end_offset
        if is_followed and log.follower is not None:
            log.follower(stamped_header, b"".join(pieces), marker)
        return base_offset

    @property
    def unsynced_bytes(self) -> int:
        """Of all batches that memory holds until they are on disk."""
        return self.appended_bytes - self._synced_bytes

    def begin_commit(self) -> None:
        """What was appended so far is on its way to the disk."""
        self._committing, self._grown = self._grown, {}
        self._committing_bytes = self.appended_bytes

    def finish_commit(self) -> list[PartitionLog]:
        """It is on disk: move the high watermarks, and say which partitions have something new to show."""
        committed, self._committing = self._committing, {}
        self._synced_bytes = self._committing_bytes
        for log, end_offset in committed.items():
            apply_synced(log.state, end_offset)
        return list(committed)
