"""A transactional producer's state, every way between two states as a table, and the calls that move it.

Two threads meet here: the caller's (init, begin, commit, abort) and the sender's (`Numbering`). Coordinator calls are
made one at a time. A call that timed out leaves the state as it is and is made again; an error inside a transaction
makes it abortable, and abort itself never ends in an abortable error: it succeeds, times out, or is the end (KIP-1050).
"""

import logging
import threading
from collections.abc import Callable, Sequence
from enum import Enum, auto

from fencepost.client.exceptions import (
    AbortableError,
    ClientError,
    FatalError,
    FencedError,
    IllegalState,
    InvalidTxnState,
    ProducerFenced,
    RetriableError,
    Timeout,
    TransactionAbortable,
)
from fencepost.client.producer.batch import ProducerBatch
from fencepost.client.producer.numbering import Numbering
from fencepost.client.producer.produce_request import CLASSIC_TRANSACTIONS_UNTIL
from fencepost.client.time_limits import Deadline
from fencepost.client.transaction_control import MarkerWait, TransactionControl
from fencepost.client.values import NO_IDENTITY, ConsumerGroupMetadata, Offsets, ProducerIdentity
from fencepost.errors import invariant
from fencepost.types import TopicPartition

logger = logging.getLogger("fencepost.client")


class State(Enum):
    UNINITIALIZED = auto()
    """Made; `init_transactions` has not been called."""
    INITIALIZING = auto()
    """Asking the coordinator for an identity."""
    READY = auto()
    """Between transactions."""
    IN_TRANSACTION = auto()
    """Records and offsets may be sent."""
    COMMITTING_TRANSACTION = auto()
    """`commit_transaction` was called; if it timed out, it is called again."""
    ABORTING_TRANSACTION = auto()
    """`abort_transaction` was called; if it timed out, it is called again."""
    ABORTABLE_ERROR = auto()
    """This transaction cannot be committed; `abort_transaction` leads on."""
    FATAL_ERROR = auto()
    """Fenced, or past help; only `close` is left."""


LEGAL_TRANSITIONS: dict[tuple[State, State], str] = {
    (State.UNINITIALIZED, State.INITIALIZING): "init_transactions",
    (State.INITIALIZING, State.READY): "the coordinator gave an identity",
    (State.READY, State.IN_TRANSACTION): "begin_transaction",
    (State.IN_TRANSACTION, State.COMMITTING_TRANSACTION): "commit_transaction",
    (State.IN_TRANSACTION, State.ABORTING_TRANSACTION): "abort_transaction",
    (State.ABORTABLE_ERROR, State.ABORTING_TRANSACTION): "abort_transaction",
    (State.COMMITTING_TRANSACTION, State.READY): "the coordinator has decided on commit",
    (State.ABORTING_TRANSACTION, State.READY): "the coordinator has decided on abort",
    (State.ABORTING_TRANSACTION, State.INITIALIZING): "numbers were lost: the next epoch is needed (first flow)",
    (State.COMMITTING_TRANSACTION, State.INITIALIZING): "the cluster has moved to the second flow",
    (State.IN_TRANSACTION, State.ABORTABLE_ERROR): "a record, a partition or an offset was refused",
    (State.COMMITTING_TRANSACTION, State.ABORTABLE_ERROR): "a record was refused before the commit was sent",
    (State.ABORTABLE_ERROR, State.ABORTABLE_ERROR): "one more was refused",
    **{(state, State.FATAL_ERROR): "fenced, or past help" for state in State},
}

Settle = Callable[[Deadline], None]
"""Waits until no record of the transaction is on its way; raises `Timeout`."""

_OPEN = (State.IN_TRANSACTION, State.COMMITTING_TRANSACTION)
_IN_ERROR = (State.ABORTABLE_ERROR, State.FATAL_ERROR)


class TransactionManager(Numbering):
    is_numbered = True

    def __init__(self, control: TransactionControl, *, transaction_timeout_ms: int, call_timeout_s: float) -> None:
        self._control = control
        self._markers = MarkerWait(control)
        self._transaction_timeout_ms = transaction_timeout_ms
        self._call_timeout_s = call_timeout_s
        self._lock = threading.RLock()
        self._calls = threading.Lock()
        self._state = State.UNINITIALIZED
        self._error: ClientError | None = None
        self._identity = NO_IDENTITY
        self._transaction_number = 0
        self._uses_v2 = False
        self._partitions: set[TopicPartition] = set()
        self._has_started = False
        """The coordinator knows, or may know, of this transaction."""
        self._is_start_certain = True
        self._needs_new_epoch = False
        self._is_commit = False
        """What the end that is under way is to be."""

    # What the sender asks (Numbering)

    @property
    def transactional_id(self) -> str | None:
        return self._control.transactional_id

    @property
    def state(self) -> State:
        return self._state

    @property
    def identity(self) -> ProducerIdentity:
        return self._identity

    @property
    def transaction_number(self) -> int:
        return self._transaction_number

    @property
    def problem(self) -> ClientError | None:
        return self._error if self._state in _IN_ERROR else None

    @property
    def may_retry(self) -> bool:
        return self._state in _OPEN

    @property
    def starts_carefully(self) -> bool:
        """In the second flow the broker itself refuses a first number that is not 0."""
        return not self._uses_v2

    @property
    def produce_version_max(self) -> int | None:
        return None if self._uses_v2 else CLASSIC_TRANSACTIONS_UNTIL

    def identity_for(self, used: ProducerIdentity) -> ProducerIdentity:
        return self._identity

    def prepare(self, partitions: Sequence[TopicPartition], transaction_number: int) -> None:
        """First flow: add them to the transaction. Second flow: the broker will."""
        with self._calls:
            with self._lock:
                added = [partition for partition in partitions if partition not in self._partitions]
                if not added or self._state not in _OPEN or transaction_number != self._transaction_number:
                    return
                is_first, self._has_started = not self._has_started, True
                if self._uses_v2:
                    self._partitions.update(added)
                else:
                    self._is_start_certain = False
            if self._uses_v2:
                if is_first:
                    self._markers.wait()
                return
            try:
                self._control.add_partitions(self._identity, added, deadline=Deadline(self._call_timeout_s))
            except RetriableError:
                raise
            except ClientError as problem:
                self._fail(problem)
                raise
            with self._lock:
                self._is_start_certain = True
                self._partitions.update(added)

    def is_prepared(self, partition: TopicPartition) -> bool:
        with self._lock:
            return partition in self._partitions and self._state in _OPEN

    def batch_failed(self, batch: ProducerBatch, error: ClientError) -> None:
        with self._lock:
            if batch.attempts:
                self._needs_new_epoch = True
            if self._state in _OPEN or self._state is State.ABORTABLE_ERROR:
                self._fail(_within_transaction(error))

    # What the caller asks

    def init(self, deadline: Deadline) -> None:
        with self._calls:
            if self._state is not State.INITIALIZING:
                self._require("init_transactions", State.UNINITIALIZED)
                self._move(State.INITIALIZING)
            self._take_identity(presented=None, deadline=deadline)
            self._move(State.READY)

    def begin(self) -> None:
        with self._lock:
            self._require("begin_transaction", State.READY)
            self._transaction_number += 1
            self._uses_v2 = self._control.uses_v2
            self._partitions.clear()
            self._has_started = False
            self._is_start_certain = True
            self._move(State.IN_TRANSACTION)

    def check_can_send(self) -> int:
        """Returns the number of the transaction that is open."""
        if self._state is not State.IN_TRANSACTION:
            self._require("send", State.IN_TRANSACTION)
        return self._transaction_number

    def send_offsets(self, offsets: Offsets, group: ConsumerGroupMetadata, deadline: Deadline) -> None:
        call = "send_offsets_to_transaction"
        self._require(call, State.IN_TRANSACTION)
        number = self._transaction_number
        if not offsets:
            return
        with self._calls:
            # Another thread may have ended the transaction while this one waited.
            self._require(call, State.IN_TRANSACTION)
            if number != self._transaction_number:
                raise IllegalState(f"{call}: the transaction has ended meanwhile, and another one has begun")
            is_first, self._has_started = not self._has_started, True
            try:
                if not self._uses_v2:
                    self._control.add_offsets(self._identity, group.group_id, deadline=deadline)
                elif is_first:
                    self._markers.wait()
                self._control.txn_offset_commit(
                    self._identity, group, offsets, uses_v2=self._uses_v2, deadline=deadline
                )
            except ClientError as problem:
                error = _within_transaction(problem)
                self._fail(error)
                raise error from problem

    def commit(self, deadline: Deadline, settle: Settle) -> None:
        number = self._begin_end("commit_transaction", is_commit=True, sources=(State.IN_TRANSACTION,))
        if self._state is State.COMMITTING_TRANSACTION:
            settle(deadline)
        self._end(number, deadline)

    def abort(self, deadline: Deadline, settle: Settle) -> None:
        sources = (State.IN_TRANSACTION, State.ABORTABLE_ERROR)
        number = self._begin_end("abort_transaction", is_commit=False, sources=sources)
        if self._state is State.ABORTING_TRANSACTION:
            settle(deadline)
        self._end(number, deadline)

    def _begin_end(self, call: str, *, is_commit: bool, sources: tuple[State, ...]) -> int:
        """Returns the number of the transaction that is to end."""
        ending = State.COMMITTING_TRANSACTION if is_commit else State.ABORTING_TRANSACTION
        with self._lock:
            is_again = self._state in (ending, State.INITIALIZING) and self._is_commit is is_commit
            if not (is_again and self._identity != NO_IDENTITY):
                self._require(call, *sources)
                self._is_commit = is_commit
                self._move(ending)
            return self._transaction_number

    def _end(self, number: int, deadline: Deadline) -> None:
        with self._calls:
            if self._state is State.READY or number != self._transaction_number:
                raise IllegalState("another thread has ended this transaction meanwhile, and knows how it ended")
            if self._state in _IN_ERROR:
                assert self._error is not None
                raise self._error
            if self._state is not State.INITIALIZING:
                self._end_at_coordinator(deadline)
            has_flow_changed = self._control.uses_v2 is not self._uses_v2
            if (self._needs_new_epoch and not self._uses_v2) or has_flow_changed:
                if self._state is not State.INITIALIZING:
                    self._move(State.INITIALIZING)
                self._take_identity(presented=self._identity, deadline=deadline)
            with self._lock:
                self._needs_new_epoch = False
                self._error = None
                self._move(State.READY)

    def _end_at_coordinator(self, deadline: Deadline) -> None:
        if not self._has_started:
            return
        try:
            identity = self._control.end_txn(
                self._identity, is_commit=self._is_commit, uses_v2=self._uses_v2, deadline=deadline
            )
        except Timeout:
            raise
        except InvalidTxnState as nothing_open:
            if self._is_commit or self._is_start_certain:
                raise self._failed_end(nothing_open) from nothing_open
            # Whether the partitions were ever added is unknown, and now it does not matter.
            self._needs_new_epoch = True
            identity = self._identity
        except ClientError as problem:
            raise self._failed_end(problem) from problem
        with self._lock:
            self._identity = identity
            self._has_started = False
            self._markers.transaction_ended()

    def _failed_end(self, problem: ClientError) -> ClientError:
        if isinstance(problem, AbortableError) and not self._is_commit:
            problem = FatalError(f"the transaction cannot be aborted: {problem}", error_code=problem.error_code)
        elif isinstance(problem, ProducerFenced) and self._error is not None:
            problem = ProducerFenced(f"{problem} Before that: {self._error}", error_code=problem.error_code)
        self._fail(problem)
        return problem

    def _take_identity(self, *, presented: ProducerIdentity | None, deadline: Deadline) -> None:
        try:
            identity = self._control.init_producer_id(
                transaction_timeout_ms=self._transaction_timeout_ms, presented=presented, deadline=deadline
            )
        except Timeout:
            raise
        except ClientError as problem:
            self._fail(problem if isinstance(problem, FatalError | FencedError) else FatalError(str(problem)))
            raise
        with self._lock:
            self._identity = identity
        logger.info("transactional id '%s' has %s", self.transactional_id, identity)

    def _fail(self, problem: ClientError) -> None:
        with self._lock:
            if self._state is State.FATAL_ERROR:
                return
            is_fatal = isinstance(problem, FatalError | FencedError)
            if self._state is State.ABORTING_TRANSACTION and not is_fatal:
                return  # it needs no further reason
            if is_fatal or self._error is None or self._state is not State.ABORTABLE_ERROR:
                self._error = problem
            logger.warning("transactional id '%s': %s", self.transactional_id, problem)
            self._move(State.FATAL_ERROR if is_fatal else State.ABORTABLE_ERROR)

    def _require(self, call: str, *states: State) -> None:
        if self._state in states:
            return
        if self._state is State.FATAL_ERROR or (self._state is State.ABORTABLE_ERROR and call != "begin_transaction"):
            assert self._error is not None
            raise self._error
        expected = " or ".join(state.name for state in states)
        raise IllegalState(f"{call} needs a producer that is {expected}; this one is {self._state.name}")

    def _move(self, state: State) -> None:
        with self._lock:
            invariant(
                (self._state, state) in LEGAL_TRANSITIONS, f"{self._state.name} to {state.name} is a legal transition"
            )
            self._state = state


def _within_transaction(error: ClientError) -> ClientError:
    """A retriable error that outlived its retries costs the transaction, not the producer (KIP-1050)."""
    if isinstance(error, RetriableError):
        return TransactionAbortable(f"abort this transaction and do it again: {error}", error_code=error.error_code)
    return error
