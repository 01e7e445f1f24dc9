"""`fencepost txn describe`: one transaction over all partitions, as a timeline.

It is put together from the transaction log, `__transaction_state`, read like any topic, and from the partitions that
the transaction touched.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import click

from fencepost.cli.arguments import complete_transactional_ids, format_clock, iso_moment
from fencepost.cli.failures import Failure
from fencepost.cli.options import ClusterAccess, connection_options
from fencepost.cli.output import Columns, json_option, print_json, print_table, say
from fencepost.cli.txn import as_document, in_words
from fencepost.client.admin.admin import Admin
from fencepost.client.admin.inspecting import InspectedBatch, Outcome, inspect_batches
from fencepost.client.admin.transactions import TransactionDescription
from fencepost.client.exceptions import Authorization
from fencepost.client.time_limits import Deadline
from fencepost.errors import WireError
from fencepost.groups.records import OFFSET_COMMIT_KEYS
from fencepost.java_hash import partition_for
from fencepost.records.reader import read_records
from fencepost.settings import INT64_MAX
from fencepost.transactions.log_records import TRANSACTION_STATE_TOPIC, Cause, TransactionLogRecord, decode_log_record
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import Transaction
from fencepost.types import NO_OFFSET, OffsetRange, TopicPartition
from fencepost.wire.message import record_version
from fencepost.wire.messages.offset_commit_record import OffsetCommitKey, OffsetCommitValue

# What the transaction log says about an id: `__transaction_state`, read like any topic.
#
# Compaction leaves the newest record of each id at least; what it has removed is not shown. On our broker the record
# of a changed identity names the client behind it, which Kafka's does not.


class StateChange(NamedTuple):
    topic_partition: TopicPartition
    offset: int
    transaction: Transaction
    cause: Cause | None

    @property
    def at_ms(self) -> int:
        return self.transaction.last_update_timestamp_ms

    @property
    def state(self) -> TransactionState:
        return self.transaction.state


def read_history(admin: Admin, transactional_id: str, *, deadline: Deadline) -> list[StateChange]:
    """Every state of the id that is still in the log, oldest first."""
    count = admin.describe_topics([TRANSACTION_STATE_TOPIC])[TRANSACTION_STATE_TOPIC].partition_count
    topic_partition = TopicPartition(TRANSACTION_STATE_TOPIC, partition_for(transactional_id, count))
    changes = []
    for batch in inspect_batches(admin.cluster, topic_partition, OffsetRange(0, INT64_MAX), deadline=deadline):
        if batch.outcome is Outcome.MARKER:
            continue
        for record in read_records(batch.batch):
            stored = decode_log_record(record)
            if not isinstance(stored, TransactionLogRecord) or stored.transaction is None:
                continue
            if stored.transactional_id == transactional_id:
                changes.append(StateChange(topic_partition, record.offset, stored.transaction, stored.cause))
    return changes


def split_transactions(changes: Iterable[StateChange]) -> list[list[StateChange]]:
    """The changes of each transaction, oldest first, each with the InitProducerId before it if there was one."""
    transactions: list[list[StateChange]] = []
    waiting: list[StateChange] = []
    for change in changes:
        if change.state is TransactionState.EMPTY:
            waiting = [change]
        elif waiting or not transactions or transactions[-1][-1].state.is_complete:
            transactions.append([*waiting, change])
            waiting = []
        else:
            transactions[-1].append(change)
    return transactions


def last_client(changes: Iterable[StateChange]) -> str | None:
    """Who was given the identity, where the log says so."""
    causes = [change.cause for change in changes if change.cause is not None and change.cause.client_id]
    return f"{causes[-1].client_id} at {causes[-1].address}" if causes else None


# What one transaction did, in order, with the number that the documents give each step.
#
#     1, 2  InitProducerId          8   offsets stored, pending
#     5     a partition is added    9   PREPARE: the decision
#     6     records are written     10  a marker on each partition
#     7     offsets are added       11  COMPLETE
#                                   12  readers see it
#
# Steps 3 and 4 leave no trace. Records carry their producer's clock and markers the broker's, so time orders only what
# happens between two decisions. Since Kafka 4.0 steps 5 and 7 are part of 6 and 8: the broker adds partitions itself.


OFFSETS_TOPIC = "__consumer_offsets"
SLACK_MS = 60_000
"""A record is stamped when it is handed to the producer, which may be long before the coordinator hears of it."""


class Event(NamedTuple):
    step: str
    at_ms: int
    topic_partition: TopicPartition
    first_offset: int
    last_offset: int
    what: str

    @property
    def place(self) -> str:
        if self.first_offset == NO_OFFSET:
            return str(self.topic_partition)
        last = f"..{self.last_offset}" if self.last_offset > self.first_offset else ""
        return f"{self.topic_partition} @{self.first_offset}{last}"


_PHASES = {"1, 2": 0, "5": 1, "6": 1, "7": 1, "8": 1, "9": 2, "10": 3, "11": 4, "12": 5}


def timeline(admin: Admin, changes: Sequence[StateChange], *, deadline: Deadline, whole_log: bool) -> list[Event]:
    """The events of one transaction, out of its changes in the log and the partitions that it touched."""
    events = list(_state_events(changes))
    for each in sorted(frozenset[TopicPartition]().union(*(change.transaction.partitions for change in changes))):
        events += _partition_events(admin, each, changes, deadline=deadline, whole_log=whole_log)
    added_ms = _added_ms(changes)

    def order(event: Event) -> tuple[int, int, int]:
        # No partition holds data of a transaction before it is added, whatever the producer's clock says.
        at_ms = max(event.at_ms, added_ms.get(event.topic_partition, 0))
        return _PHASES[event.step], at_ms, int(event.step.split(",")[0])

    return sorted(events, key=order)


def _added_ms(changes: Sequence[StateChange]) -> dict[TopicPartition, int]:
    added: dict[TopicPartition, int] = {}
    for change in changes:
        for each in change.transaction.partitions:
            added.setdefault(each, change.at_ms)
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
        names = [*map(str, added)]
        is_offsets = bool(names) and all(name.startswith(OFFSETS_TOPIC) for name in names)
        return "7" if is_offsets else "5", f"{name}: adds {', '.join(names) or 'nothing'}"
    if state.is_prepare:
        return "9", f"{name}: decided"
    return "11", f"{name}"


def _partition_events(
    admin: Admin,
    topic_partition: TopicPartition,
    changes: Sequence[StateChange],
    *,
    deadline: Deadline,
    whole_log: bool,
) -> Iterator[Event]:
    start_ms = max(change.transaction.start_timestamp_ms for change in changes)
    start_offset = 0 if whole_log else max(0, admin.offsets_at([topic_partition], start_ms - SLACK_MS)[topic_partition])
    batches = inspect_batches(admin.cluster, topic_partition, OffsetRange(start_offset, INT64_MAX), deadline=deadline)
    data, marker = _own_batches(batches, changes, start_ms)
    for batch in data:
        yield _data_event(batch)
    if marker is not None and marker.marker is not None:
        offset, at_ms = marker.header.base_offset, marker.marker.timestamp_ms
        kind = "COMMIT" if marker.marker.is_commit else "ABORT"
        yield Event(
            "10", at_ms, topic_partition, offset, offset, f"{kind} marker, epoch {marker.header.producer_epoch}"
        )
        stable = admin.latest_offsets([topic_partition], read_committed=True)[topic_partition]
        seen = "read_committed readers are past it" if stable > offset else f"readers wait at offset {stable}"
        if topic_partition.topic != OFFSETS_TOPIC:
            yield Event("12", at_ms, topic_partition, NO_OFFSET, NO_OFFSET, seen)


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
    header = batch.header
    if batch.topic_partition.topic == OFFSETS_TOPIC:
        step, what = "8", "; ".join(_offset_words(batch)) or "offsets"
    else:
        sequences = (
            f"{header.base_sequence}..{header.last_sequence}" if header.record_count > 1 else header.base_sequence
        )
        plural = "" if header.record_count == 1 else "s"
        step, what = "6", f"{header.record_count} record{plural}, sequence {sequences}"
    return Event(step, header.max_timestamp, batch.topic_partition, header.base_offset, header.last_offset, what)


def _offset_words(batch: InspectedBatch) -> Iterator[str]:
    for record in read_records(batch.batch):
        try:
            if record.key is None or record.value is None or record_version(record.key) not in OFFSET_COMMIT_KEYS:
                continue
            key, value = OffsetCommitKey.from_bytes(record.key), OffsetCommitValue.from_bytes(record.value)
        except WireError:
            continue
        yield f"group {key.group}: {key.topic}-{key.partition} to {value.offset}"


PATIENCE_S = 120.0
COLUMNS: Columns = {"STEP": "step", "TIME": lambda row: format_clock(row["at_ms"]), "WHERE": "place", "WHAT": "what"}


@click.command("describe")
@click.argument("transactional_id", metavar="TRANSACTIONAL_ID", shell_complete=complete_transactional_ids)
@click.option("--previous", type=click.IntRange(min=0), default=0, help="So many transactions before the last one.")
@click.option("--whole-log", is_flag=True, help="Look for records from the beginning of each partition.")
@json_option
@connection_options
def command(transactional_id: str, previous: int, whole_log: bool, as_json: bool, connection: ClusterAccess) -> None:
    """Show what the last transaction of an id did: log, records, offsets, markers, in order.

    STEP is the number that the documents' deep dive gives it: 1, 2 InitProducerId; 5 a partition is added; 6 records;
    7, 8 offsets; 9 the decision; 10 markers; 11 complete; 12 visible. What compaction has removed is not shown, nor
    records that were stamped more than a minute before the transaction began (--whole-log finds them).

    \b
    Examples:
      fencepost txn describe shop-0
      fencepost txn describe shop-0 --whole-log --json
    """
    deadline = Deadline(PATIENCE_S)
    with connection.admin() as admin:
        row = existing(admin, transactional_id)
        changes = chosen_changes(admin, transactional_id, previous, deadline)
        events = timeline(admin, changes, deadline=deadline, whole_log=whole_log) if changes else []
    if as_json:
        print_json({**as_document(row), "timeline": [event_document(event) for event in events]})
        return
    click.echo(f"{in_words(row)}\n")
    rows = [{**event._asdict(), "place": event.place} for event in events]
    print_table(COLUMNS, rows, empty="It has had no transaction, as far as the log goes.")


def existing(admin: Admin, transactional_id: str) -> TransactionDescription:
    row = admin.describe_transaction(transactional_id)
    if row is None:
        raise Failure(f"no transactional id '{transactional_id}'. `fencepost txn list` shows those that there are.")
    return row


def chosen_changes(admin: Admin, transactional_id: str, previous: int, deadline: Deadline) -> list[StateChange]:
    try:
        transactions = split_transactions(read_history(admin, transactional_id, deadline=deadline))
    except Authorization as problem:
        say(f"The transaction log cannot be read, so there is no timeline: {problem}")
        return []
    if not transactions and previous == 0:
        return []
    if previous >= len(transactions):
        raise Failure(f"the log holds {len(transactions)} transactions of '{transactional_id}'")
    return transactions[-1 - previous]


def event_document(event: Event) -> dict[str, object]:
    return {
        "step": event.step,
        "time_ms": event.at_ms,
        "time": iso_moment(event.at_ms),
        "topic": event.topic_partition.topic,
        "partition": event.topic_partition.partition,
        "first_offset": event.first_offset if event.first_offset >= 0 else None,
        "last_offset": event.last_offset if event.last_offset >= 0 else None,
        "what": event.what,
    }
