"""What the coordinator decides, as entries of the journal, and the bytes of `__transaction_state`.

`decide_*` returns a `Decision`, or a `Refusal`. The broker appends every entry, in order, and calls `apply` for each
record at once. The reply, also one that is a `Refusal`, leaves when the last entry is synced. A plain `Refusal` changes
nothing, but what it shows may not be synced yet either.

The bytes are Kafka's TransactionLogKey and TransactionLogValue, so that its tools can read them. Ours, and skipped by
others: `last_producer_epoch` is always written (a tagged field), the cause of an identity change is a record header,
and a `ProducerIdsRecord` has a key of a version that Kafka does not know. A key or value of a version that we do not
know reads as None: it comes from a newer broker and is passed over.
"""

import json
import struct
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Generic, NamedTuple, TypeVar

from fencepost.errors import CorruptLog, Refusal, WireError
from fencepost.java_hash import partition_for
from fencepost.records.record import Headers, Record
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import Transaction
from fencepost.types import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, Buffer, TopicPartition
from fencepost.wire.message import Output, record_version
from fencepost.wire.messages.transaction_log import PartitionsSchema, TransactionLogKey, TransactionLogValue
from fencepost.wire.writing import write_compact_array, write_uvarint

NO_CONNECTION = 0
"""Older than every connection, so that what was opened on an unknown one is never held against a client."""

CLIENT_ID_CHARACTERS_MAX = 128

TRANSACTION_STATE_TOPIC = "__transaction_state"
KEY_VERSION = 0
VALUE_VERSION = 1
PRODUCER_IDS_KEY_VERSION = 10000
PRODUCER_IDS_PARTITION = 0
CAUSE_HEADER = "fencepost.cause"

_PRODUCER_IDS_KEY = struct.pack(">h", PRODUCER_IDS_KEY_VERSION)
_PRODUCER_IDS_VALUE = struct.Struct(">hq")

_encode_json = json.JSONEncoder(separators=(",", ":")).encode


class Caller(NamedTuple):
    """Who sent a request. Connections are numbered from 1 in the order of accepting, anew at each start."""

    client_id: str
    address: str
    connection_id: int = NO_CONNECTION


class Cause(NamedTuple):
    """Why an identity changed: kept in the record's headers, so that a refusal can name the culprit after a restart."""

    request: str
    client_id: str
    address: str


def cause_of(request: str, caller: Caller) -> Cause:
    """A client may choose an id of 32 KiB; its beginning is enough to recognise it."""
    return Cause(request, caller.client_id[:CLIENT_ID_CHARACTERS_MAX], caller.address)


class TransactionLogRecord(NamedTuple):
    """The next value of a transactional id, for the partition of `__transaction_state` that the id hashes to; None is
    the tombstone of an expired one."""

    transactional_id: str
    transaction: Transaction | None
    cause: Cause | None = None
    connection_id: int = NO_CONNECTION
    """Where the request came in; not written, a connection means nothing after a restart."""


def record_of(before: Transaction | None, after: Transaction, cause: Cause) -> TransactionLogRecord:
    """The record of a change; it names its cause only where the identity changes, which is what gets explained."""
    is_same = before is not None and before.client_identity == after.client_identity
    return TransactionLogRecord(after.transactional_id, after, None if is_same else cause)


class Marker(NamedTuple):
    """One control batch to write; `transaction_version` selects the partition's epoch check (KIP-1228)."""

    topic_partition: TopicPartition
    producer_id: int
    producer_epoch: int
    is_commit: bool
    coordinator_epoch: int
    transaction_version: int


class ProducerIdsRecord(NamedTuple):
    """Every producer id below `next_producer_id` is taken."""

    next_producer_id: int


LogRecord = TransactionLogRecord | ProducerIdsRecord
Entry = LogRecord | Marker
Reply = TypeVar("Reply", covariant=True)


class Decision(NamedTuple, Generic[Reply]):
    entries: tuple[Entry, ...]
    reply: Reply | Refusal


def _tagged(tag: int, code: str) -> Callable[[int], bytes]:
    """How a tagged number is written: its tag, its size, itself."""
    prefix = Output()
    write_uvarint(prefix, tag)
    write_uvarint(prefix, struct.calcsize(f">{code}"))
    return partial(struct.Struct(f">{len(prefix)}s{code}").pack, bytes(prefix))


_VALUE_HEAD = struct.Struct(">hqhib")
_VALUE_TIMES = struct.Struct(">qqB")
_NULL_ARRAY = b"\0"
_PREVIOUS_PRODUCER_ID = _tagged(0, "q")
_NEXT_PRODUCER_ID = _tagged(1, "q")
_CLIENT_TRANSACTION_VERSION = _tagged(2, "h")
_NEXT_PRODUCER_EPOCH = _tagged(3, "h")
_LAST_PRODUCER_EPOCH = _tagged(10000, "h")


def partition_of(record: LogRecord, partition_count: int) -> TopicPartition:
    """Where a record is appended."""
    if isinstance(record, ProducerIdsRecord):
        return TopicPartition(TRANSACTION_STATE_TOPIC, PRODUCER_IDS_PARTITION)
    return TopicPartition(TRANSACTION_STATE_TOPIC, partition_for(record.transactional_id, partition_count))


def encode_log_record(record: LogRecord, *, timestamp_ms: int) -> Record:
    if isinstance(record, ProducerIdsRecord):
        value = _PRODUCER_IDS_VALUE.pack(0, record.next_producer_id)
        return Record(timestamp_ms=timestamp_ms, key=_PRODUCER_IDS_KEY, value=value)
    return Record(
        timestamp_ms=timestamp_ms,
        key=_encode_key(record.transactional_id),
        value=None if record.transaction is None else encode_transaction(record.transaction),
        headers=() if record.cause is None else ((CAUSE_HEADER, _encode_cause(record.cause)),),
    )


@lru_cache(maxsize=4096)
def _encode_key(transactional_id: str) -> bytes:
    """Three records of each transaction have it."""
    return TransactionLogKey(transactional_id).to_bytes(KEY_VERSION)


def decode_log_record(record: Record) -> LogRecord | None:
    """None for a key or value of an unknown version."""
    if record.key is None:
        raise CorruptLog(f"{TRANSACTION_STATE_TOPIC} has a record without a key at offset {record.offset}")
    try:
        return _decode(record.key, record.value, record.headers)
    except (WireError, ValueError, struct.error) as unreadable:
        raise CorruptLog(
            f"{TRANSACTION_STATE_TOPIC} offset {record.offset} is unreadable: {unreadable}"
        ) from unreadable


def _decode(key: bytes, value: bytes | None, headers: Headers) -> LogRecord | None:
    key_version = record_version(key)
    if key_version == PRODUCER_IDS_KEY_VERSION and value is not None:
        return ProducerIdsRecord(_PRODUCER_IDS_VALUE.unpack(value)[1])
    if key_version != KEY_VERSION:
        return None
    transactional_id = TransactionLogKey.from_bytes(key).transactional_id
    if value is None:
        return TransactionLogRecord(transactional_id, None)
    if not TransactionLogValue.MIN_VERSION <= record_version(value) <= TransactionLogValue.MAX_VERSION:
        return None
    return TransactionLogRecord(transactional_id, decode_transaction(transactional_id, value), _decode_cause(headers))


def encode_transaction(transaction: Transaction) -> bytes:
    """TransactionLogValue, packed directly: a transaction writes three of them, and filling the message that they are
    read with would cost twice as much."""
    # Kafka's own choice: null for an id that has no transaction, an empty list for one that is complete.
    is_empty = transaction.state is TransactionState.EMPTY
    tags = [
        tagged(number)
        for tagged, number, absent in (
            (_PREVIOUS_PRODUCER_ID, transaction.previous_producer_id, NO_PRODUCER_ID),
            (_NEXT_PRODUCER_ID, transaction.next_producer_id, NO_PRODUCER_ID),
            (_CLIENT_TRANSACTION_VERSION, transaction.client_transaction_version, 0),
            (_NEXT_PRODUCER_EPOCH, transaction.next_producer_epoch, NO_PRODUCER_EPOCH),
            (_LAST_PRODUCER_EPOCH, transaction.last_producer_epoch, NO_PRODUCER_EPOCH),
        )
        if number != absent
    ]
    return b"".join(
        (
            _VALUE_HEAD.pack(
                VALUE_VERSION,
                transaction.producer_id,
                transaction.producer_epoch,
                transaction.timeout_ms,
                transaction.state,
            ),
            _NULL_ARRAY if is_empty else _encode_partitions(transaction.partitions),
            _VALUE_TIMES.pack(transaction.last_update_timestamp_ms, transaction.start_timestamp_ms, len(tags)),
            *tags,
        )
    )


@lru_cache(maxsize=128)
def _encode_partitions(partitions: frozenset[TopicPartition]) -> bytes:
    """In one order on every machine and in every run."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        by_topic.setdefault(topic, []).append(partition)
    out = Output()
    write_compact_array(out, [PartitionsSchema(*topic) for topic in by_topic.items()], VALUE_VERSION)
    return bytes(out)


def decode_transaction(transactional_id: str, value: Buffer) -> Transaction:
    decoded = TransactionLogValue.from_bytes(bytes(value))
    return Transaction(
        transactional_id=transactional_id,
        producer_id=decoded.producer_id,
        producer_epoch=decoded.producer_epoch,
        timeout_ms=decoded.transaction_timeout_ms,
        state=TransactionState(decoded.transaction_status),
        last_update_timestamp_ms=decoded.transaction_last_update_timestamp_ms,
        previous_producer_id=decoded.previous_producer_id,
        next_producer_id=decoded.next_producer_id,
        next_producer_epoch=decoded.next_producer_epoch,
        last_producer_epoch=decoded.last_producer_epoch,
        partitions=frozenset(
            TopicPartition(topic.topic, partition)
            for topic in decoded.transaction_partitions or ()
            for partition in topic.partition_ids
        ),
        start_timestamp_ms=decoded.transaction_start_timestamp_ms,
        client_transaction_version=decoded.client_transaction_version,
    )


def _encode_cause(cause: Cause) -> bytes:
    return _encode_json(cause).encode()


def _decode_cause(headers: Headers) -> Cause | None:
    for name, value in headers:
        if name == CAUSE_HEADER and value is not None:
            return Cause(*json.loads(bytes(value)))
    return None
