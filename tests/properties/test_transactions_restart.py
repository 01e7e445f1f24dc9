"""Restart equivalence: wherever a checkpoint is taken, it and the records after it give the state of the whole."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.records.record import Record
from fencepost.settings import BrokerSettings
from fencepost.transactions.apply import replay
from fencepost.transactions.checkpoint import dump_state, load_state
from fencepost.transactions.log_records import Caller, decode_log_record
from fencepost.transactions.state import CoordinatorState
from fencepost.transactions.states import TransactionState
from fencepost.types import ProducerIdentity, TopicPartition
from tests.unit.transactions.driver import CoordinatorDriver

IDS = ["a", "ü", "\U0001f600" * 3]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["take over", "resume", "keep", "add", "commit", "abort", "idempotent", "timeout", "expiry"]),
        st.sampled_from(IDS),
        st.sampled_from([4, 5]),
        st.integers(0, 5),
    ),
    max_size=40,
)
SETTINGS = BrokerSettings(transaction_two_phase_commit_enable=True, transactional_id_expiration_ms=5_000_000)


def history(steps: list[tuple[str, str, int, int]], first_epoch: int) -> CoordinatorDriver:
    """Run the steps with the identities that are current at each, so that most of them succeed."""
    driver = CoordinatorDriver(SETTINGS)
    for number, transactional_id in enumerate(IDS):
        driver.put_id(transactional_id, producer_id=number, producer_epoch=first_epoch)
    for action, transactional_id, version, number in steps:
        transaction = driver.state.transactions.get(transactional_id)
        owner = ProducerIdentity(0, 0) if transaction is None else transaction.client_identity
        caller = Caller(f"client-{number}", "127.0.0.1:1", number)
        driver.pass_time(number)
        if action == "take over":
            driver.init(transactional_id, caller=caller)
        elif action == "resume":
            driver.init(transactional_id, owner, caller=caller)
        elif action == "keep":
            driver.init(transactional_id, enable_2pc=True, keep_prepared_txn=True, caller=caller)
        elif action == "add":
            partition = TopicPartition("t", number)
            driver.add(owner, partition, transactional_id=transactional_id, version=version - 3, caller=caller)
        elif action in ("commit", "abort"):
            driver.end(owner, is_commit=action == "commit", version=version, transactional_id=transactional_id)
        elif action == "idempotent":
            driver.init(None)
        elif action == "timeout":
            driver.sweep()
            driver.pass_time(1_000_000)
            driver.sweep()
        else:
            driver.expire()
            driver.pass_time(2_000_000)
            driver.expire()
    return driver


def fold(state: CoordinatorState, entries: list[object]) -> CoordinatorState:
    for entry in entries:
        record = decode_log_record(entry) if isinstance(entry, Record) else None
        if record is not None:
            replay(state, record)
    return state


@settings(deadline=None, max_examples=150)
@given(steps=STEPS, first_epoch=st.sampled_from([0, 32764, 32766]), data=st.data())
def test_a_checkpoint_and_the_rest_of_the_journal_give_the_state_of_the_whole(
    steps: list[tuple[str, str, int, int]], first_epoch: int, data: st.DataObject
) -> None:
    driver = history(steps, first_epoch)
    journal: list[object] = list(driver.journal)
    cut = data.draw(st.integers(0, len(journal)), label="checkpoint after entry")
    whole = fold(CoordinatorState(BrokerSettings()), journal)
    from_checkpoint = fold(
        load_state(dump_state(fold(CoordinatorState(BrokerSettings()), journal[:cut])), BrokerSettings()), journal[cut:]
    )
    for restarted in (whole, from_checkpoint):
        assert dump_state(restarted) == dump_state(driver.state)
        assert restarted.transactions == driver.state.transactions
        assert set(restarted.open_transactions) == {
            name
            for name, transaction in restarted.transactions.items()
            if transaction.state is TransactionState.ONGOING
        }
    assert {name: journal.changes for name, journal in whole.fencing_journals.items()} == {
        name: journal.changes for name, journal in driver.state.fencing_journals.items()
    }


@settings(deadline=None, max_examples=100)
@given(steps=STEPS, first_epoch=st.sampled_from([0, 32764, 32766]), data=st.data())
def test_recovery_that_crashes_itself_ends_in_the_same_state(
    steps: list[tuple[str, str, int, int]], first_epoch: int, data: st.DataObject
) -> None:
    driver = history(steps, first_epoch)
    cut = data.draw(st.integers(0, len(driver.journal)), label="crash after entry")
    once = driver.crashed(cut)
    recovery_cut = data.draw(st.integers(cut, len(once.journal)), label="recovery crashes after entry")
    again = once.crashed(recovery_cut)
    assert dump_state(again.state) == dump_state(once.state)
    assert dump_state(again.crashed().state) == dump_state(once.state)
    assert not any(transaction.state.is_prepare for transaction in again.state.transactions.values())
