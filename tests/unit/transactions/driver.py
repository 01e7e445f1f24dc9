"""A coordinator under test: decides, writes bytes to a list that stands for the journal, applies.

Every decision is checked to have changed nothing. `crashed` reads back a prefix of the journal, as recovery does.
"""

from fencepost.errors import CloseConnection, ErrorCode, Refusal
from fencepost.records.record import Record
from fencepost.settings import BrokerSettings
from fencepost.transactions.apply import apply, replay
from fencepost.transactions.checkpoint import dump_state
from fencepost.transactions.decide_add_partitions import decide_add_partitions, verify_partitions
from fencepost.transactions.decide_end_txn import decide_end_txn
from fencepost.transactions.decide_init_producer_id import decide_init_producer_id
from fencepost.transactions.ending import ExpirySweep, decide_abort, decide_recovery, sweep_timed_out
from fencepost.transactions.log_records import (
    Caller,
    Decision,
    Marker,
    TransactionLogRecord,
    decode_log_record,
    encode_log_record,
)
from fencepost.transactions.state import CoordinatorState
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import Transaction
from fencepost.types import NO_IDENTITY, ProducerIdentity, TopicPartition
from fencepost.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

NOW_MS = 1_700_000_000_000
ID = "shop-0"
INVOICES = TopicPartition("invoices", 0)
SHIPMENTS = TopicPartition("shipments", 1)
CALLER = Caller("client-1", "127.0.0.1:1001", 1)
OTHER = Caller("client-2", "127.0.0.1:1002", 2)


class CoordinatorDriver:
    def __init__(self, settings: BrokerSettings | None = None, *, coordinator_epoch: int = 0) -> None:
        self.state = CoordinatorState(settings or BrokerSettings())
        self.state.coordinator_epoch = coordinator_epoch
        self.journal: list[Record | Marker] = []
        self.now_ms = NOW_MS
        self.monotonic_ms = 0
        self.expiry = ExpirySweep(self.state, now_ms=self.now_ms, monotonic_ms=0)
        self.refusal = Refusal(ErrorCode.NONE)
        self.response: InitProducerIdResponse | EndTxnResponse | None = None

    def run(self, outcome: object) -> object:
        """Append and apply a decision, give back its reply, or the error code of a refusal."""
        if isinstance(outcome, Decision):
            for entry in outcome.entries:
                if isinstance(entry, Marker):
                    self.journal.append(entry)
                    continue
                self.journal.append(encode_log_record(entry, timestamp_ms=self.now_ms))
                apply(self.state, entry)
            outcome = outcome.reply
        if isinstance(outcome, Refusal):
            self.refusal = outcome
            return outcome.error_code
        return outcome

    def pure(self, before: bytes) -> None:
        assert dump_state(self.state) == before, "a decision changed the state"

    def init(
        self,
        transactional_id: str | None = ID,
        presented: ProducerIdentity | tuple[int, int] = NO_IDENTITY,
        *,
        timeout_ms: int = 60_000,
        enable_2pc: bool = False,
        keep_prepared_txn: bool = False,
        caller: Caller = CALLER,
    ) -> ProducerIdentity | ErrorCode:
        before = dump_state(self.state)
        request = InitProducerIdRequest(transactional_id, timeout_ms, *presented, enable_2pc, keep_prepared_txn)
        outcome = decide_init_producer_id(self.state, request, caller=caller, now_ms=self.now_ms)
        self.pure(before)
        reply = self.run(outcome)
        if transactional_id is not None:
            self.state.carried_on(transactional_id, caller.connection_id)
        return self._identity(reply)

    def _identity(self, reply: object) -> ProducerIdentity | ErrorCode:
        """What a client goes on with; the whole answer is in `response`."""
        if isinstance(reply, ErrorCode):
            return reply
        assert isinstance(reply, InitProducerIdResponse | EndTxnResponse)
        self.response = reply
        return ProducerIdentity(reply.producer_id, reply.producer_epoch)

    def owner(self, transactional_id: str = ID, **options: object) -> ProducerIdentity:
        """InitProducerId, asked again while it answers CONCURRENT_TRANSACTIONS, as clients do."""
        reply = self.init(transactional_id, **options)  # type: ignore[arg-type]
        if reply is ErrorCode.CONCURRENT_TRANSACTIONS:
            reply = self.init(transactional_id, **options)  # type: ignore[arg-type]
        assert isinstance(reply, ProducerIdentity), self.refusal
        return reply

    def add(
        self,
        presented: tuple[int, int],
        *partitions: TopicPartition,
        transactional_id: str = ID,
        version: int = 0,
        caller: Caller = CALLER,
    ) -> ErrorCode:
        before = dump_state(self.state)
        outcome = decide_add_partitions(
            self.state,
            transactional_id=transactional_id,
            presented=ProducerIdentity(*presented),
            partitions=partitions or (INVOICES,),
            client_transaction_version=version,
            connection_id=caller.connection_id,
            now_ms=self.now_ms,
        )
        self.pure(before)
        reply = self.run(outcome)
        self.state.carried_on(transactional_id, caller.connection_id)
        return reply if isinstance(reply, ErrorCode) else ErrorCode.NONE

    def verify(self, presented: tuple[int, int], *partitions: TopicPartition) -> list[ErrorCode] | ErrorCode:
        outcome = verify_partitions(
            self.state, transactional_id=ID, presented=ProducerIdentity(*presented), partitions=partitions
        )
        if isinstance(outcome, Refusal):
            return outcome.error_code
        return [ErrorCode.NONE if refusal is None else refusal.error_code for refusal in outcome.values()]

    def end(
        self,
        presented: tuple[int, int],
        *,
        is_commit: bool = True,
        version: int,
        transactional_id: str = ID,
        caller: Caller = CALLER,
    ) -> ProducerIdentity | CloseConnection | ErrorCode:
        before = dump_state(self.state)
        request = EndTxnRequest(transactional_id, *presented, is_commit)
        outcome = decide_end_txn(self.state, request, api_version=version, caller=caller, now_ms=self.now_ms)
        self.pure(before)
        reply = self.run(outcome)
        return reply if isinstance(reply, CloseConnection) else self._identity(reply)

    def pass_time(self, milliseconds: int) -> None:
        self.now_ms += milliseconds
        self.monotonic_ms += milliseconds

    def sweep(self) -> list[str]:
        due = sweep_timed_out(self.state, monotonic_ms=self.monotonic_ms)
        for transactional_id in due:
            self.run(decide_abort(self.state, transactional_id, now_ms=self.now_ms))
        return due

    def time_out(self) -> None:
        """Let the open transactions run into their timeout."""
        self.sweep()
        self.pass_time(self.state.settings.transaction_max_timeout_ms + 1)
        assert self.sweep(), "nothing timed out"

    def expire(self) -> list[str]:
        decision = self.expiry.decide(self.state, monotonic_ms=self.monotonic_ms)
        self.run(decision)
        return [entry.transactional_id for entry in decision.entries if isinstance(entry, TransactionLogRecord)]

    @property
    def transaction(self) -> Transaction:
        return self.state.transactions[ID]

    @property
    def markers(self) -> list[Marker]:
        return [entry for entry in self.journal if isinstance(entry, Marker)]

    @property
    def logged_transactions(self) -> list[Transaction]:
        records = [decode_log_record(entry) for entry in self.journal if isinstance(entry, Record)]
        return [
            record.transaction
            for record in records
            if isinstance(record, TransactionLogRecord) and record.transaction is not None
        ]

    @property
    def logged_states(self) -> list[TransactionState]:
        return [transaction.state for transaction in self.logged_transactions]

    def crashed(self, entries_kept: int | None = None, *, is_recovered: bool = True) -> "CoordinatorDriver":
        """The coordinator after a restart that found the first entries of the journal."""
        restarted = CoordinatorDriver(self.state.settings)
        restarted.now_ms, restarted.monotonic_ms = self.now_ms, 0
        restarted.journal = self.journal[:entries_kept]
        for entry in restarted.journal:
            if isinstance(entry, Record):
                record = decode_log_record(entry)
                assert record is not None
                replay(restarted.state, record)
        if is_recovered:
            for decision in decide_recovery(restarted.state, now_ms=self.now_ms):
                restarted.run(decision)
        restarted.expiry = ExpirySweep(restarted.state, now_ms=restarted.now_ms, monotonic_ms=0)
        return restarted

    def put(self, state: TransactionState, **changes: object) -> Transaction:
        """Start from a given value of the id, as recovery could find it."""
        value = Transaction(
            transactional_id=ID,
            producer_id=7,
            producer_epoch=5,
            timeout_ms=60_000,
            state=state,
            last_update_timestamp_ms=self.now_ms,
            start_timestamp_ms=self.now_ms,
            partitions=frozenset({INVOICES}) if state is TransactionState.ONGOING or state.is_prepare else frozenset(),
        )
        value = value._replace(**changes)  # type: ignore[arg-type]
        record = TransactionLogRecord(value.transactional_id, value)
        self.journal.append(encode_log_record(record, timestamp_ms=self.now_ms))
        replay(self.state, record)
        return value

    def put_id(self, transactional_id: str, *, producer_id: int, producer_epoch: int) -> None:
        """An idle id with this identity."""
        self.put(
            TransactionState.EMPTY,
            transactional_id=transactional_id,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            start_timestamp_ms=-1,
        )
