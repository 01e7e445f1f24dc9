"""What a broker did, as plain values: every entry of its journal in order, its offsets, what readers and clients saw.

`history_of` takes it from the disk and from answers to requests, not from the state that is to be checked. Tests of the
invariants write histories by hand.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from fencepost.broker.catalogue import INTERNAL_TOPICS, TRANSACTION_TOPIC
from fencepost.journal.dump import dump_frames
from fencepost.journal.frames import FrameKind
from fencepost.partition.visibility import last_stable_offset
from fencepost.records.control import ControlMarker, read_marker
from fencepost.records.header import BatchHeader, read_header
from fencepost.records.reader import read_records
from fencepost.transactions.log_records import LogRecord, TransactionLogRecord, decode_log_record
from fencepost.transactions.transaction import Transaction
from fencepost.types import Buffer, ProducerIdentity, TopicPartition
from tests.scenarios.reader import consumed_offsets
from tests.unit.broker.builders import Broker

FETCH_SIZES_BYTES = (1, 1 << 20)
"""One batch at a time, and all at once."""


class Entry(NamedTuple):
    """One batch of the journal. `logged` are the records of a batch of `__transaction_state`."""

    topic_partition: TopicPartition
    header: BatchHeader
    marker: ControlMarker | None = None
    logged: tuple[LogRecord, ...] = ()

    @property
    def is_transactional_data(self) -> bool:
        return self.header.is_transactional and not self.header.is_control


class Offsets(NamedTuple):
    log_start: int
    last_stable: int
    high_watermark: int
    log_end: int


class CommitTold(NamedTuple):
    """An EndTxn(commit) that was answered with NONE, and every PREPARE of its id that was synced at that moment."""

    transactional_id: str
    presented: ProducerIdentity
    api_version: int
    prepared: tuple[Transaction, ...]


class ReadFrom(NamedTuple):
    topic_partition: TopicPartition
    start_offset: int
    fetch_bytes: int


@dataclass
class History:
    entries: list[Entry] = field(default_factory=list)
    offsets: dict[TopicPartition, Offsets] = field(default_factory=dict)
    consumed: dict[ReadFrom, list[int]] = field(default_factory=dict)
    """The offsets of the records that a read_committed consumer delivers."""
    commits_told: list[CommitTold] = field(default_factory=list)
    identities_told: list[tuple[str | None, ProducerIdentity]] = field(default_factory=list)
    forgotten_producer_ids: frozenset[int] = frozenset()
    """Producers whose state expired: their sequences may start again anywhere."""
    has_foreign_markers: bool = False
    """Somebody else than the coordinator wrote markers: an administrator, or a late packet."""

    def last_transactions(self) -> dict[str, Transaction]:
        """Each transactional id as its newest record says."""
        found: dict[str, Transaction] = {}
        for entry in self.entries:
            for record in entry.logged:
                if isinstance(record, TransactionLogRecord):
                    found.pop(record.transactional_id, None)
                    if record.transaction is not None:
                        found[record.transactional_id] = record.transaction
        return found


def history_of(
    broker: Broker,
    *,
    commits_told: list[CommitTold],
    identities_told: list[tuple[str | None, ProducerIdentity]],
    forgotten_producer_ids: frozenset[int] = frozenset(),
    has_foreign_markers: bool = False,
) -> History:
    broker.commit()
    logs = broker.core.state.logs
    offsets = {
        topic_partition: Offsets(
            log.state.log_start_offset, last_stable_offset(log.state), log.state.high_watermark, log.state.end_offset
        )
        for topic_partition, log in logs.items()
    }
    return History(
        entries=journal_entries(broker),
        offsets=offsets,
        consumed=_consumed(broker, offsets),
        commits_told=commits_told,
        identities_told=identities_told,
        forgotten_producer_ids=forgotten_producer_ids,
        has_foreign_markers=has_foreign_markers,
    )


def journal_entries(broker: Broker) -> list[Entry]:
    """What is on the disk, in journal order. Batches of deleted topics are left out."""
    logs = broker.core.state.logs_by_ref
    return [
        entry_of(logs[frame.partition_ref].topic_partition, frame.payload)
        for _, frame in dump_frames(broker.disk)
        if frame.kind == FrameKind.BATCH and not frame.fault and frame.partition_ref in logs
    ]


def entry_of(topic_partition: TopicPartition, batch: Buffer) -> Entry:
    header = read_header(batch)
    marker = read_marker(batch) if header.is_control else None
    logged: tuple[LogRecord, ...] = ()
    if topic_partition.topic == TRANSACTION_TOPIC:
        decoded = (decode_log_record(record) for record in read_records(batch))
        logged = tuple(record for record in decoded if record is not None)
    return Entry(topic_partition, header, marker, logged)


def _consumed(broker: Broker, offsets: dict[TopicPartition, Offsets]) -> dict[ReadFrom, list[int]]:
    return {
        read_from: consumed_offsets(broker, *read_from)
        for topic_partition, bounds in offsets.items()
        if topic_partition.topic not in INTERNAL_TOPICS
        for start_offset in range(bounds.log_start, bounds.high_watermark + 1)
        for fetch_bytes in FETCH_SIZES_BYTES
        for read_from in (ReadFrom(topic_partition, start_offset, fetch_bytes),)
    }
