"""What `decide_*` returns: entries to append in this order and a reply, a `Refusal`, or `CloseConnection`.

The broker appends every entry and calls `apply` for each record at once. The reply, also one that is a `Refusal`,
leaves when the last entry is synced. A plain `Refusal` changes nothing, but what it shows may not be synced yet
either.
"""

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from fencepost.errors import Refusal
from fencepost.transactions.log_records import Entry, Marker, ProducerIdsRecord, TransactionLogRecord
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


# The settings that the coordinator's rules depend on, under the names of `fencepost.settings`.


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorSettings:
    transaction_version: int = 2
    """The finalized level decides how the coordinator's own aborts are written. Requests go by their own version."""

    transaction_max_timeout_ms: int = 900_000
    transaction_two_phase_commit_enable: bool = False
    transactional_id_expiration_ms: int = 604_800_000
    transactional_ids_max: int = 100_000

    coordinator_epoch: int = 0
    """Written into every marker. Partitions refuse a marker with a smaller one, so it must never decrease."""
