"""What `decide_*` returns: entries to append in this order and a reply, a `Refusal`, or `CloseConnection`.

The broker appends every entry and calls `apply` for each record at once. The reply, also one that is a `Refusal`,
leaves when the last entry is synced. A plain `Refusal` changes nothing, but what it shows may not be synced yet
either.
"""

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from fencepost.errors import Refusal
from fencepost.transactions.log_entries import Entry, Marker, ProducerIdsRecord, TransactionLogRecord
from fencepost.types import NO_PRODUCER_EPOCH, NO_PRODUCER_ID

Reply = TypeVar("Reply", covariant=True)


class Decision(NamedTuple, Generic[Reply]):
    entries: tuple[Entry, ...]
    reply: Reply | Refusal

    @property
    def records(self) -> list[TransactionLogRecord | ProducerIdsRecord]:
        return [entry for entry in self.entries if not isinstance(entry, Marker)]

    @property
    def markers(self) -> list[Marker]:
        return [entry for entry in self.entries if isinstance(entry, Marker)]


@dataclass(frozen=True, slots=True)
class CloseConnection:
    """Answer nothing and close: a living client asks again on a new connection, a late packet has nobody behind it."""

    reason: str


@dataclass(frozen=True, slots=True)
class InitProducerIdReply:
    producer_id: int
    producer_epoch: int
    ongoing_txn_producer_id: int = NO_PRODUCER_ID
    ongoing_txn_producer_epoch: int = NO_PRODUCER_EPOCH


class EndTxnReply(NamedTuple):
    """The identity to go on with; -1 and -1 up to EndTxn v4, which keeps the one it has."""

    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
