"""The producer's state machine: every call in every state, every way that a call can end."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fencepost.client.exceptions import (
    ClientError,
    FatalError,
    GroupFenced,
    IllegalState,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    InvalidTxnState,
    ProducerFenced,
    Timeout,
    TransactionAbortable,
)
from fencepost.client.producer.batch import ProducerBatch
from fencepost.client.producer.transaction_manager import LEGAL_TRANSITIONS, State, TransactionManager
from fencepost.client.time_limits import Deadline
from fencepost.client.values import ConsumerGroupMetadata, OffsetAndMetadata, ProducerIdentity
from fencepost.types import TopicPartition
from tests.interop.support import wait_for

WHERE = TopicPartition("t", 0)
OFFSETS = {WHERE: OffsetAndMetadata(1)}
GROUP = ConsumerGroupMetadata("g")
DEADLINE = Deadline(10)


class Control:
    """A coordinator that does what it is told: the next errors by call, and everything that was asked."""

    transactional_id = "id"

    def __init__(self, *, uses_v2: bool) -> None:
        self.uses_v2 = uses_v2
        self.asked: list[str] = []
        self.errors: dict[str, list[ClientError]] = {}
        self.identity = ProducerIdentity(7, 0)

    def _ask(self, call: str) -> None:
        self.asked.append(call)
        if self.errors.get(call):
            raise self.errors[call].pop(0)

    def init_producer_id(
        self, *, transaction_timeout_ms: int, presented: ProducerIdentity | None = None, deadline: Deadline
    ) -> ProducerIdentity:
        self._ask("init" if presented is None else "bump")
        self.identity = self.identity._replace(producer_epoch=self.identity.producer_epoch + 1)
        return self.identity

    def add_partitions(self, identity: ProducerIdentity, partitions: Any, *, deadline: Deadline) -> None:
        self._ask("add_partitions")

    def add_offsets(self, identity: ProducerIdentity, group_id: str, *, deadline: Deadline) -> None:
        self._ask("add_offsets")

    def txn_offset_commit(
        self, identity: ProducerIdentity, group: Any, offsets: Any, *, uses_v2: bool, deadline: Deadline
    ) -> None:
        self._ask("txn_offset_commit")

    def end_txn(
        self, identity: ProducerIdentity, *, is_commit: bool, uses_v2: bool, deadline: Deadline
    ) -> ProducerIdentity:
        self._ask("commit" if is_commit else "abort")
        if uses_v2:
            self.identity = identity._replace(producer_epoch=identity.producer_epoch + 1)
        return self.identity


def make(*, uses_v2: bool = True) -> tuple[TransactionManager, Control]:
    control = Control(uses_v2=uses_v2)
    manager = TransactionManager(control, transaction_timeout_ms=1, call_timeout_s=1)  # type: ignore[arg-type]
    return manager, control


def settled(deadline: Deadline) -> None:
    """Nothing is on its way."""


def never_settled(deadline: Deadline) -> None:
    raise Timeout("records are still on their way")


def failed_batch(*, attempts: int = 1) -> ProducerBatch:
    batch = ProducerBatch(WHERE, created_at_s=0)
    batch.attempts = attempts
    return batch


def in_transaction(*, uses_v2: bool = True) -> tuple[TransactionManager, Control]:
    manager, control = make(uses_v2=uses_v2)
    bring_to(State.IN_TRANSACTION, manager, control)
    return manager, control


def bring_to(state: State, manager: TransactionManager, control: Control) -> None:
    """By the calls that a user would make."""
    if state is State.UNINITIALIZED:
        return
    if state is State.INITIALIZING:
        control.errors["init"] = [Timeout("late")]
        with pytest.raises(Timeout):
            manager.init(DEADLINE)
        return
    manager.init(DEADLINE)
    if state is State.READY:
        return
    manager.begin()
    manager.prepare([WHERE], manager.transaction_number)
    if state is State.COMMITTING_TRANSACTION:
        with pytest.raises(Timeout):
            manager.commit(DEADLINE, never_settled)
    elif state is State.ABORTING_TRANSACTION:
        with pytest.raises(Timeout):
            manager.abort(DEADLINE, never_settled)
    elif state is State.ABORTABLE_ERROR:
        manager.batch_failed(failed_batch(), InvalidProducerEpoch("refused"))
    elif state is State.FATAL_ERROR:
        manager.batch_failed(failed_batch(), InvalidProducerIdMapping("gone"))


CALLS: dict[str, Callable[[TransactionManager], None]] = {
    "init": lambda manager: manager.init(DEADLINE),
    "begin": lambda manager: manager.begin(),
    "send": lambda manager: manager.check_can_send(),
    "send_offsets": lambda manager: manager.send_offsets(OFFSETS, GROUP, DEADLINE),
    "commit": lambda manager: manager.commit(DEADLINE, settled),
    "abort": lambda manager: manager.abort(DEADLINE, settled),
}

# What each call leads to; a state that is not listed refuses the call.
AFTER: dict[str, dict[State, State]] = {
    "init": {State.UNINITIALIZED: State.READY, State.INITIALIZING: State.READY},
    "begin": {State.READY: State.IN_TRANSACTION},
    "send": {State.IN_TRANSACTION: State.IN_TRANSACTION},
    "send_offsets": {State.IN_TRANSACTION: State.IN_TRANSACTION},
    "commit": {State.IN_TRANSACTION: State.READY, State.COMMITTING_TRANSACTION: State.READY},
    "abort": {
        State.IN_TRANSACTION: State.READY,
        State.ABORTABLE_ERROR: State.READY,
        State.ABORTING_TRANSACTION: State.READY,
    },
}


@pytest.mark.parametrize("uses_v2", [True, False], ids=["second flow", "first flow"])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("state", State, ids=lambda state: state.name)
def test_every_call_in_every_state(state: State, call: str, uses_v2: bool) -> None:
    manager, control = make(uses_v2=uses_v2)
    bring_to(state, manager, control)
    assert manager.state is state
    if state in AFTER[call]:
        CALLS[call](manager)
        assert manager.state is AFTER[call][state]
        return
    with pytest.raises(ClientError) as raised:
        CALLS[call](manager)
    assert manager.state is state, "a call that is refused changes nothing"
    if state is State.FATAL_ERROR:
        assert isinstance(raised.value, InvalidProducerIdMapping)
    elif state is not State.ABORTABLE_ERROR:
        assert isinstance(raised.value, IllegalState)
        assert state.name in str(raised.value)


def test_every_state_can_be_left_and_the_end_is_the_end() -> None:
    sources = {source for source, target in LEGAL_TRANSITIONS if source is not target}
    assert sources == set(State) - {State.FATAL_ERROR}
    assert {target for source, target in LEGAL_TRANSITIONS if source is State.FATAL_ERROR} == {State.FATAL_ERROR}
    assert all(LEGAL_TRANSITIONS.values())


def test_the_second_flow_adds_nothing_and_takes_the_next_epoch_from_the_end() -> None:
    manager, control = in_transaction()
    before = manager.identity
    manager.send_offsets(OFFSETS, GROUP, DEADLINE)
    manager.commit(DEADLINE, settled)
    assert control.asked == ["init", "txn_offset_commit", "commit"]
    assert manager.identity == before._replace(producer_epoch=before.producer_epoch + 1)
    assert manager.produce_version_max is None
    assert not manager.starts_carefully


def test_the_first_flow_adds_each_partition_once_and_keeps_its_epoch() -> None:
    manager, control = in_transaction(uses_v2=False)
    manager.prepare([WHERE], manager.transaction_number)
    manager.prepare([TopicPartition("t", 1), WHERE], manager.transaction_number)
    manager.send_offsets(OFFSETS, GROUP, DEADLINE)
    before = manager.identity
    manager.commit(DEADLINE, settled)
    calls = ["init", "add_partitions", "add_partitions", "add_offsets", "txn_offset_commit", "commit"]
    assert control.asked == calls
    assert manager.identity == before
    assert manager.produce_version_max == 11
    assert manager.starts_carefully


@pytest.mark.parametrize("uses_v2", [True, False])
def test_a_transaction_that_the_coordinator_never_heard_of_is_ended_without_it(uses_v2: bool) -> None:
    manager, control = make(uses_v2=uses_v2)
    manager.init(DEADLINE)
    manager.begin()
    manager.send_offsets({}, GROUP, DEADLINE)
    manager.commit(DEADLINE, settled)
    manager.begin()
    manager.abort(DEADLINE, settled)
    assert control.asked == ["init"]


def test_in_the_first_flow_lost_numbers_cost_an_epoch_and_in_the_second_they_do_not() -> None:
    for uses_v2, calls in ((False, ["init", "add_partitions", "abort", "bump"]), (True, ["init", "abort"])):
        manager, control = in_transaction(uses_v2=uses_v2)
        manager.batch_failed(failed_batch(), InvalidProducerEpoch("refused"))
        manager.abort(DEADLINE, settled)
        assert control.asked == calls


def test_a_batch_that_was_never_sent_costs_no_epoch() -> None:
    manager, control = in_transaction(uses_v2=False)
    manager.batch_failed(failed_batch(attempts=0), Timeout("expired"))
    assert manager.state is State.ABORTABLE_ERROR
    manager.abort(DEADLINE, settled)
    assert "bump" not in control.asked


def test_a_bump_that_timed_out_is_made_by_the_next_abort() -> None:
    manager, control = make(uses_v2=False)
    bring_to(State.ABORTABLE_ERROR, manager, control)
    control.errors["bump"] = [Timeout("late")]
    with pytest.raises(Timeout):
        manager.abort(DEADLINE, settled)
    with pytest.raises(IllegalState):
        manager.commit(DEADLINE, settled)
    manager.abort(DEADLINE, settled)
    assert control.asked.count("abort") == 1, "the coordinator had decided already"
    assert manager.state is State.READY


def test_a_batch_that_fails_during_the_commit_makes_it_abortable_and_nothing_is_committed() -> None:
    manager, control = in_transaction()

    def settle(deadline: Deadline) -> None:
        manager.batch_failed(failed_batch(), GroupFenced("refused"))

    with pytest.raises(GroupFenced):
        manager.commit(DEADLINE, settle)
    assert manager.state is State.ABORTABLE_ERROR
    assert "commit" not in control.asked


def test_an_abort_never_ends_in_an_abortable_error() -> None:
    manager, control = make()
    bring_to(State.ABORTABLE_ERROR, manager, control)
    control.errors["abort"] = [TransactionAbortable("no")]
    with pytest.raises(FatalError):
        manager.abort(DEADLINE, settled)
    assert manager.state is State.FATAL_ERROR


def test_an_abort_of_partitions_that_may_never_have_been_added_takes_a_new_epoch_instead() -> None:
    manager, control = make(uses_v2=False)
    manager.init(DEADLINE)
    manager.begin()
    control.errors["add_partitions"] = [Timeout("late")]
    with pytest.raises(Timeout):
        manager.prepare([WHERE], manager.transaction_number)
    assert manager.state is State.IN_TRANSACTION, "the sender tries again"
    control.errors["abort"] = [InvalidTxnState("nothing is open")]
    manager.abort(DEADLINE, settled)
    assert control.asked[-2:] == ["abort", "bump"]
    assert manager.state is State.READY


def prepare(manager: TransactionManager) -> None:
    manager.prepare([WHERE], manager.transaction_number)


@pytest.mark.parametrize(
    ("call", "uses_v2"), [(prepare, False), (CALLS["send_offsets"], False), (CALLS["send_offsets"], True)]
)
def test_a_refusal_that_comes_while_the_transaction_is_aborted_changes_nothing(
    call: Callable[[TransactionManager], None], uses_v2: bool
) -> None:
    """One thread aborts and waits for the call that another one has made."""
    manager, control = make(uses_v2=uses_v2)
    manager.init(DEADLINE)
    manager.begin()
    aborting: list[threading.Thread] = []

    def refused_while_aborting(*_: Any, **__: Any) -> None:
        aborting.append(threading.Thread(target=manager.abort, args=(DEADLINE, settled)))
        aborting[0].start()
        wait_for("the abort begins", lambda: manager.state is State.ABORTING_TRANSACTION)
        raise TransactionAbortable("no")

    control.add_partitions = control.txn_offset_commit = refused_while_aborting  # type: ignore[method-assign]
    with pytest.raises(TransactionAbortable):
        call(manager)
    aborting[0].join(10)
    assert manager.state is State.READY
    assert manager.problem is None


@pytest.mark.parametrize("has_next_begun", [False, True])
@pytest.mark.parametrize("call", ["commit", "send_offsets"])
def test_a_call_that_comes_to_its_turn_when_another_thread_has_ended_the_transaction_is_refused(
    call: str, has_next_begun: bool
) -> None:
    manager, control = in_transaction()
    with ThreadPoolExecutor(1) as other_thread:
        with manager._calls:
            late = other_thread.submit(CALLS[call], manager)
            wait_for("the other thread waits", lambda: late.running())
            if call == "commit":
                wait_for("the commit begins", lambda: manager.state is State.COMMITTING_TRANSACTION)
            time.sleep(0.05)
            # What the thread that has its turn does.
            manager._end_at_coordinator(DEADLINE)
            manager._state = State.READY
            if has_next_begun:
                manager.begin()
        with pytest.raises(IllegalState, match=r"another|READY"):
            late.result(10)
    assert control.asked.count("txn_offset_commit") == 0
    assert control.asked.count("commit") + control.asked.count("abort") == 1


@pytest.mark.parametrize("call", ["commit", "abort"])
def test_a_fenced_producer_tells_what_the_partition_had_said(call: str) -> None:
    manager, control = in_transaction()
    if call == "abort":
        manager.batch_failed(failed_batch(), InvalidProducerEpoch("client 'newer' took over"))
    control.errors[call] = [ProducerFenced("fenced")]
    with pytest.raises(ProducerFenced) as raised:
        CALLS[call](manager)
    assert manager.state is State.FATAL_ERROR
    assert isinstance(manager.problem, ProducerFenced)
    assert call == "commit" or "'newer'" in str(raised.value)


def test_what_outlived_its_retries_costs_the_transaction_not_the_producer() -> None:
    manager, control = in_transaction()
    control.errors["txn_offset_commit"] = [Timeout("late")]
    with pytest.raises(TransactionAbortable):
        manager.send_offsets(OFFSETS, GROUP, DEADLINE)
    assert manager.state is State.ABORTABLE_ERROR
    assert not manager.may_retry


def test_the_first_error_is_the_one_that_is_told_until_a_worse_one_comes() -> None:
    manager, _ = in_transaction()
    manager.batch_failed(failed_batch(), GroupFenced("first"))
    manager.batch_failed(failed_batch(), InvalidProducerEpoch("second"))
    assert "first" in str(manager.problem)
    manager.batch_failed(failed_batch(), InvalidProducerIdMapping("third"))
    assert manager.state is State.FATAL_ERROR
    assert "third" in str(manager.problem)


def test_a_cluster_that_moves_to_the_second_flow_is_followed_between_transactions() -> None:
    manager, control = in_transaction(uses_v2=False)
    control.uses_v2 = True
    manager.send_offsets(OFFSETS, GROUP, DEADLINE)
    manager.commit(DEADLINE, settled)
    assert control.asked == ["init", "add_partitions", "add_offsets", "txn_offset_commit", "commit", "bump"]
    manager.begin()
    assert manager.produce_version_max is None
