"""What the coordinator knows about one transactional id: a frozen value, and the arithmetic of its identity.

The identity is (producer id, producer epoch). While a prepared transaction is kept (KIP-939) there are two: the one
that the transaction runs under, and the one that the client must present, held in `next_producer_id` and
`next_producer_epoch`. At all other times `next_*` only names the producer id that follows an exhausted epoch.
"""

from typing import NamedTuple, TypedDict, Unpack

from fencepost.transactions.states import TransactionState
from fencepost.types import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_TIMESTAMP, ProducerIdentity, TopicPartition

LAST_USABLE_EPOCH = 32766
"""Clients never hold a higher epoch: 32767 is kept back so that the coordinator can always fence."""

FENCING_EPOCH = 32767

NO_TIMEOUT_MS = 2**31 - 1
"""The timeout of a producer with two-phase commit: its transactions never time out (KIP-939)."""


class TransactionChanges(TypedDict, total=False):
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    previous_producer_id: int
    next_producer_id: int
    next_producer_epoch: int
    last_producer_epoch: int
    partitions: frozenset[TopicPartition]
    start_timestamp_ms: int
    client_transaction_version: int


class Transaction(NamedTuple):
    """Kafka's TransactionMetadata of one transactional id, without a pending state: nothing is ever pending here.

    A named tuple, not a frozen dataclass: a commit makes four of them, and its copies cost half as much.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: TransactionState
    last_update_timestamp_ms: int
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    next_producer_epoch: int = NO_PRODUCER_EPOCH
    last_producer_epoch: int = NO_PRODUCER_EPOCH
    partitions: frozenset[TopicPartition] = frozenset()
    start_timestamp_ms: int = NO_TIMESTAMP
    client_transaction_version: int = 0

    @property
    def identity(self) -> ProducerIdentity:
        """Whom the transaction's data and markers belong to."""
        return ProducerIdentity(self.producer_id, self.producer_epoch)

    @property
    def is_kept(self) -> bool:
        """A prepared transaction that waits for its outcome under a second, client-facing identity (KIP-939)."""
        return self.next_producer_epoch != NO_PRODUCER_EPOCH and self.state is TransactionState.ONGOING

    @property
    def client_identity(self) -> ProducerIdentity:
        """Whom requests must come from."""
        if self.next_producer_epoch != NO_PRODUCER_EPOCH and self.is_kept:
            return ProducerIdentity(self.next_producer_id, self.next_producer_epoch)
        return ProducerIdentity(self.producer_id, self.producer_epoch)

    @property
    def ordered_partitions(self) -> list[TopicPartition]:
        """In one order on every machine and in every run."""
        return sorted(self.partitions)

    def moved_to(self, state: TransactionState, *, now_ms: int, **changes: Unpack[TransactionChanges]) -> "Transaction":
        """The next value. As in Kafka, each one names the producer id that the value before it had."""
        changes.setdefault("previous_producer_id", self.producer_id)
        return self._replace(state=state, last_update_timestamp_ms=now_ms, **changes)


def is_exhausted(producer_epoch: int) -> bool:
    return producer_epoch >= LAST_USABLE_EPOCH


def next_identity(current: ProducerIdentity, *, fresh_producer_id: int) -> ProducerIdentity:
    """One epoch further, or `fresh_producer_id` from epoch 0 where the epochs of the current one are used up."""
    if is_exhausted(current.producer_epoch):
        return ProducerIdentity(fresh_producer_id, 0)
    return ProducerIdentity(current.producer_id, current.producer_epoch + 1)
