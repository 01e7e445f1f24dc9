"""A recording of what a broker is asked and what it writes down, in order: the documents' steps, as they happen.

`record` listens at two places of a running core, the entry of requests and the journal, and changes nothing. Each
event is one line of plain text; internal records are decoded. Requests that every client sends all the time
(metadata, heartbeats, fetches) are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import OFFSETS_TOPIC, TRANSACTION_TOPIC
from fencepost.broker.core import BrokerCore
from fencepost.records.control import read_marker
from fencepost.records.header import BatchHeader
from fencepost.records.reader import read_records
from fencepost.records.record import Record
from fencepost.transactions.log_records import TransactionLogRecord, decode_log_record
from fencepost.types import Buffer, TopicPartition
from fencepost.wire.api import API_TABLE
from fencepost.wire.messages.offset_commit_record import OffsetCommitKey, OffsetCommitValue

TRANSACTION_APIS = frozenset(
    {
        "FindCoordinator",
        "InitProducerId",
        "AddPartitionsToTxn",
        "Produce",
        "AddOffsetsToTxn",
        "TxnOffsetCommit",
        "EndTxn",
    }
)


@dataclass
class Recording:
    """Lines `-> Api` for requests and `   topic-partition: what` for entries, in the order in which they happened."""

    lines: list[str] = field(default_factory=list)

    def take(self) -> list[str]:
        """What happened since the last call."""
        taken, self.lines = self.lines, []
        return taken


def record(core: BrokerCore, *, client_id: str) -> Recording:
    """Listen to the requests of one client and to everything that is written."""
    recording = Recording()
    handle, append = core.handle, core.journal.append

    def recording_handle(call: Call) -> Outcome:
        name = API_TABLE[call.api_key].name if call.api_key in API_TABLE else ""
        if name in TRANSACTION_APIS and call.client_id == client_id:
            recording.lines.append(f"-> {name}")
        return handle(call)

    def recording_append(partition_ref: int, pieces: Sequence[Buffer], header: BatchHeader) -> int:
        log = core.state.logs_by_ref[partition_ref]
        recording.lines.append(f"   {log.topic_partition}: {describe(log.topic_partition, header, b''.join(pieces))}")
        return append(partition_ref, pieces, header)

    core.handle = recording_handle  # type: ignore[method-assign]
    core.journal.append = recording_append  # type: ignore[method-assign]
    return recording


def describe(topic_partition: TopicPartition, header: BatchHeader, batch: bytes) -> str:
    if header.is_control:
        marker = read_marker(batch)
        return "control record" if marker is None else f"{'COMMIT' if marker.is_commit else 'ABORT'} marker"
    records = read_records(batch)
    if topic_partition.topic == TRANSACTION_TOPIC:
        return "; ".join(map(describe_transaction_record, records))
    if topic_partition.topic == OFFSETS_TOPIC:
        pending = "pending " if header.is_transactional else ""
        return "; ".join(f"{pending}{describe_offset_record(each)}" for each in records)
    kind = "transactional " if header.is_transactional else ""
    return f"{len(records)} {kind}record(s), sequence {header.base_sequence}"


def describe_transaction_record(stored: Record) -> str:
    decoded = decode_log_record(stored)
    if not isinstance(decoded, TransactionLogRecord) or decoded.transaction is None:
        return "other record"
    transaction = decoded.transaction
    partitions = ", ".join(map(str, transaction.ordered_partitions))
    return f"{decoded.transactional_id} is {transaction.state.kafka_name}" + (f" [{partitions}]" if partitions else "")


def describe_offset_record(stored: Record) -> str:
    key = OffsetCommitKey.from_bytes(stored.key or b"")
    if stored.value is None:
        return f"no offset of {key.group} for {key.topic}-{key.partition}"
    offset = OffsetCommitValue.from_bytes(stored.value).offset
    return f"offset {offset} of {key.group} for {key.topic}-{key.partition}"
