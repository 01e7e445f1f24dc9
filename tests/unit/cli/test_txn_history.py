"""The transaction log of an id is split into transactions, each with the take-over before it."""

from fencepost.cli.txn_describe import StateChange, last_client, split_transactions
from fencepost.transactions.log_records import Cause
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import Transaction
from fencepost.types import TopicPartition

S = TransactionState
LOG = TopicPartition("__transaction_state", 0)


def changes(*states: TransactionState, cause: Cause | None = None) -> list[StateChange]:
    return [
        StateChange(LOG, offset, Transaction("shop-0", 1, 0, 60_000, state, offset), cause)
        for offset, state in enumerate(states)
    ]


def split(*states: TransactionState) -> list[list[int]]:
    return [[change.offset for change in each] for each in split_transactions(changes(*states))]


def test_a_log_without_transactions_has_none() -> None:
    assert split() == []
    assert split(S.EMPTY, S.EMPTY) == []


def test_each_transaction_begins_after_the_end_of_the_one_before() -> None:
    one = (S.ONGOING, S.ONGOING, S.PREPARE_COMMIT, S.COMPLETE_COMMIT)
    assert split(S.EMPTY, *one, *one) == [[0, 1, 2, 3, 4], [5, 6, 7, 8]]


def test_only_the_last_take_over_belongs_to_the_transaction_after_it() -> None:
    assert split(S.EMPTY, S.EMPTY, S.ONGOING) == [[1, 2]]


def test_a_log_that_compaction_has_cut_starts_in_the_middle() -> None:
    assert split(S.COMPLETE_ABORT, S.EMPTY, S.ONGOING) == [[0], [1, 2]]


def test_the_last_client_that_is_named_is_the_owner() -> None:
    named = changes(S.EMPTY, cause=Cause("InitProducerId", "shop-app", "127.0.0.1:5"))
    assert last_client([*named, *changes(S.ONGOING)]) == "shop-app at 127.0.0.1:5"
    assert last_client(changes(S.EMPTY)) is None
