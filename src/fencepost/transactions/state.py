"""Everything that the coordinator knows: all transactional ids, their fencing journals, the next producer id.

Only `apply` and `checkpoint.load_state` change what is folded from the journal. `open_transactions` beside it is
memory: it has an entry for each Ongoing id, and `carried_on` and the timeout sweep write into those entries.
"""

from fencepost.errors import ErrorCode, Refusal
from fencepost.settings import BrokerSettings
from fencepost.transactions.fencing_journal import FencingJournal, explain_fencing
from fencepost.transactions.log_records import NO_CONNECTION
from fencepost.transactions.transaction import Transaction
from fencepost.types import ProducerIdentity


class OpenTransaction:
    """What is remembered about an open transaction, in memory only: its connections, and since when it has been seen.

    **Delayed EndTxn.** Up to v4 an EndTxn names no transaction, only an epoch that many transactions share. One that
    comes late, from a connection whose client has long moved on to another, would end the wrong transaction. So: an
    EndTxn whose connection is older than the one that opened the current transaction, and has carried nothing for this
    id since, is not answered and its connection is closed. A living client asks again on a new connection; a late
    packet has no client behind it. After a restart every connection is new and the opener is unknown: none is closed.
    """

    __slots__ = ("connections_since", "first_seen_monotonic_ms", "opened_on")

    def __init__(self, opened_on: int) -> None:
        self.opened_on = opened_on
        self.connections_since: set[int] = set()
        self.first_seen_monotonic_ms: int | None = None

    def carried_on(self, connection_id: int) -> None:
        """Only older connections can ever be turned away, so only they are worth remembering."""
        if connection_id < self.opened_on:
            self.connections_since.add(connection_id)

    def is_stranger(self, connection_id: int) -> bool:
        """The connection is older than this transaction and nothing of it came through there."""
        if connection_id == NO_CONNECTION:
            return False
        return connection_id < self.opened_on and connection_id not in self.connections_since


class CoordinatorState:
    __slots__ = (
        "coordinator_epoch",
        "fencing_journals",
        "next_producer_id",
        "open_transactions",
        "settings",
        "transactions",
    )

    def __init__(self, settings: BrokerSettings) -> None:
        self.settings = settings
        self.coordinator_epoch = 0
        """Of this start of the broker; written into every marker. Partitions refuse a marker with a smaller one."""
        self.transactions: dict[str, Transaction] = {}
        self.fencing_journals: dict[str, FencingJournal] = {}
        self.open_transactions: dict[str, OpenTransaction] = {}
        self.next_producer_id = 0

    def carried_on(self, transactional_id: str, connection_id: int) -> None:
        """Say that a connection carried something for this id.

        Call it for each Produce, AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit and InitProducerId that names the
        id, after its decision was applied.
        """
        if (opening := self.open_transactions.get(transactional_id)) is not None:
            opening.carried_on(connection_id)

    def known(self, transactional_id: str) -> Transaction | Refusal:
        """Checks that every request shares: the id is not empty and is known."""
        if not transactional_id:
            return Refusal(ErrorCode.INVALID_REQUEST, "the transactional id is empty")
        if (transaction := self.transactions.get(transactional_id)) is None:
            return Refusal(
                ErrorCode.INVALID_PRODUCER_ID_MAPPING,
                f"transactional id {transactional_id!r} is not known: it never called InitProducerId, or it expired",
            )
        return transaction

    def owned_by(self, transactional_id: str, presented: ProducerIdentity) -> Transaction | Refusal:
        """The transaction, if `presented` is its identity exactly: 49 for another producer id, 90 for another epoch."""
        transaction = self.known(transactional_id)
        if isinstance(transaction, Refusal):
            return transaction
        owner = transaction.client_identity
        if owner == presented:
            return transaction
        is_same_producer = owner.producer_id == presented.producer_id
        error_code = ErrorCode.PRODUCER_FENCED if is_same_producer else ErrorCode.INVALID_PRODUCER_ID_MAPPING
        return self.refuse(error_code, transaction, presented)

    def explain(self, transactional_id: str, presented: ProducerIdentity) -> str:
        """Who took `presented` away; nothing if it is the current identity, or the id is not known."""
        transaction = self.transactions.get(transactional_id)
        if transaction is None or transaction.client_identity == presented:
            return ""
        return explain_fencing(transaction, self.fencing_journals.get(transactional_id), presented)

    def refuse(self, error_code: ErrorCode, transaction: Transaction, presented: ProducerIdentity) -> Refusal:
        """A refusal that says who took the identity away."""
        journal = self.fencing_journals.get(transaction.transactional_id)
        return Refusal(error_code, explain_fencing(transaction, journal, presented))
