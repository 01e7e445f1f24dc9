"""What a decision appends to the journal, as values; `log_records` knows their bytes.

* `TransactionLogRecord` goes to the partition of `__transaction_state` that the transactional id hashes to.
* `Marker` becomes a control batch on its partition.
* `ProducerIdsRecord` goes wherever the broker keeps its own facts.
"""

from typing import NamedTuple

from fencepost.transactions.transaction import Transaction
from fencepost.types import TopicPartition

NO_CONNECTION = 0
"""Older than every connection, so that what was opened on an unknown one is never held against anybody."""


CLIENT_ID_CHARACTERS_MAX = 128


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
    """The next value of a transactional id; None is the tombstone of an expired one."""

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


Entry = TransactionLogRecord | Marker | ProducerIdsRecord
