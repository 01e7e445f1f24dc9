"""What one transaction did, in order, with the number that the documents give each step.

    1, 2  InitProducerId          8   offsets stored, pending
    5     a partition is added    9   PREPARE: the decision
    6     records are written     10  a marker on each partition
    7     offsets are added       11  COMPLETE
                                  12  readers see it

Steps 3 and 4 leave no trace. Records carry their producer's clock and markers the broker's, so time orders only what
happens between two decisions. Since Kafka 4.0 steps 5 and 7 are part of 6 and 8: the broker adds partitions itself.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fencepost.cli.txn_history import StateChange
from fencepost.client.admin import Admin
from fencepost.client.admin_inspecting import InspectedBatch, Outcome, inspect_batches
from fencepost.client.time_limits import Deadline
from fencepost.errors import WireError
from fencepost.groups.records import OFFSET_COMMIT_KEYS
from fencepost.records.reader import read_records
from fencepost.settings import INT64_MAX
from fencepost.transactions.states import TransactionState
from fencepost.types import NO_OFFSET, OffsetRange, TopicPartition
from fencepost.wire.message import record_version
from fencepost.wire.messages.offset_commit_record import OffsetCommitKey, OffsetCommitValue

OFFSETS_TOPIC = "__consumer_offsets"
SLACK_MS = 60_000
"""A record is stamped when it is handed to the producer, which may be long before the coordinator hears of it."""


class Event(NamedTuple):
    step: str
    at_ms: int
    where: TopicPartition
    first_offset: int
    last_offset: int
    what: str

    @property
    def place(self) -> str:
        if self.first_offset == NO_OFFSET:
            return str(self.where)
        last = f"..{self.last_offset}" if self.last_offset > self.first_offset else ""
        return f"{self.where} @{self.first_offset}{last}"


_PHASES = {"1, 2": 0, "5": 1, "6": 1, "7": 1, "8": 1, "9": 2, "10": 3, "11": 4, "12": 5}


def timeline(admin: Admin, changes: Sequence[StateChange], *, deadline: Deadline, whole_log: bool) -> list[Event]:
    """The events of one transaction, out of its changes in the log and the partitions that it touched."""
    events = list(_state_events(changes))
    for where in sorted(frozenset[TopicPartition]().union(*(change.transaction.partitions for change in changes))):
        events += _partition_events(admin, where, changes, deadline=deadline, whole_log=whole_log)
    added_ms = _added_ms(changes)

    def order(event: Event) -> tuple[int, int, int]:
        # No partition holds data of a transaction before it is added, whatever the producer's clock says.
        at_ms = max(event.at_ms, added_ms.get(event.where, 0))
        return _PHASES[event.step], at_ms, int(event.step.split(",")[0])

    return sorted(events, key=order)


def _added_ms(changes: Sequence[StateChange]) -> dict[TopicPartition, int]:
    added: dict[TopicPartition, int] = {}
    for change in changes:
        for where in change.transaction.partitions:
            added.setdefault(where, change.at_ms)
    return added


def _state_events(changes: Sequence[StateChange]) -> Iterator[Event]:
    known: frozenset[TopicPartition] = frozenset()
    for change in changes:
        transaction = change.transaction
        added = sorted(transaction.partitions - known)
        step, what = _state_words(change, added)
        yield Event(step, change.at_ms, change.topic_partition, change.offset, change.offset, what)
        if change.state is TransactionState.ONGOING:
            known = transaction.partitions


def _state_words(change: StateChange, added: Iterable[TopicPartition]) -> tuple[str, str]:
    state, name = change.state, change.state.kafka_name
    by = f" by {change.cause.client_id} at {change.cause.address}" if change.cause and change.cause.client_id else ""
    if state is TransactionState.EMPTY:
        return "1, 2", f"{name}: {change.transaction.identity}{by}"
    if state is TransactionState.ONGOING:
        names = [str(where) for where in added]
        is_offsets = bool(names) and all(name.startswith(OFFSETS_TOPIC) for name in names)
        return "7" if is_offsets else "5", f"{name}: adds {', '.join(names) or 'nothing'}"
    if state.is_prepare:
        return "9", f"{name}: decided"
    return "11", f"{name}"


def _partition_events(
    admin: Admin, where: TopicPartition, changes: Sequence[StateChange], *, deadline: Deadline, whole_log: bool
) -> Iterator[Event]:
    start_ms = max(change.transaction.start_timestamp_ms for change in changes)
    start_offset = 0 if whole_log else max(0, admin.offsets_at([where], start_ms - SLACK_MS)[where])
    batches = inspect_batches(admin.cluster, where, OffsetRange(start_offset, INT64_MAX), deadline=deadline)
    data, marker = _own_batches(batches, changes, start_ms)
    for batch in data:
        yield _data_event(batch)
    if marker is not None and marker.marker is not None:
        offset, at_ms = marker.header.base_offset, marker.marker.timestamp_ms
        kind = "COMMIT" if marker.marker.is_commit else "ABORT"
        yield Event("10", at_ms, where, offset, offset, f"{kind} marker, epoch {marker.header.producer_epoch}")
        stable = admin.latest_offsets([where], read_committed=True)[where]
        seen = "read_committed readers are past it" if stable > offset else f"readers wait at offset {stable}"
        if where.topic != OFFSETS_TOPIC:
            yield Event("12", at_ms, where, NO_OFFSET, NO_OFFSET, seen)


def _own_batches(
    batches: Iterable[InspectedBatch], changes: Sequence[StateChange], start_ms: int
) -> tuple[list[InspectedBatch], InspectedBatch | None]:
    """The transaction's data on a partition and its marker: the first run of the producer's that ends after the start.

    One identity may serve many transactions in the first flow, so its batches are split at markers.
    """
    producer_id = changes[-1].transaction.producer_id
    ongoing = [change.transaction for change in changes if change.state is TransactionState.ONGOING]
    data_epoch = ongoing[0].producer_epoch if ongoing else changes[0].transaction.producer_epoch
    run: list[InspectedBatch] = []
    for batch in batches:
        if batch.header.producer_id != producer_id:
            continue
        if batch.outcome is not Outcome.MARKER:
            if batch.header.is_transactional and batch.header.producer_epoch == data_epoch:
                run.append(batch)
        elif batch.marker is not None:
            if batch.marker.timestamp_ms >= start_ms and batch.header.producer_epoch >= data_epoch:
                return run, batch
            run = []
    return run, None


def _data_event(batch: InspectedBatch) -> Event:
    header, where = batch.header, batch.topic_partition
    if where.topic == OFFSETS_TOPIC:
        step, what = "8", "; ".join(_offset_words(batch)) or "offsets"
    else:
        sequences = (
            f"{header.base_sequence}..{header.last_sequence}" if header.record_count > 1 else header.base_sequence
        )
        plural = "" if header.record_count == 1 else "s"
        step, what = "6", f"{header.record_count} record{plural}, sequence {sequences}"
    return Event(step, header.max_timestamp, where, header.base_offset, header.last_offset, what)


def _offset_words(batch: InspectedBatch) -> Iterator[str]:
    for record in read_records(batch.batch):
        try:
            if record.key is None or record.value is None or record_version(record.key) not in OFFSET_COMMIT_KEYS:
                continue
            key, value = OffsetCommitKey.from_bytes(record.key), OffsetCommitValue.from_bytes(record.value)
        except WireError:
            continue
        yield f"group {key.group}: {key.topic}-{key.partition} to {value.offset}"
