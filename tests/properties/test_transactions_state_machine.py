"""The coordinator against a naive model: honest clients, zombies with identities of the past, timeouts and crashes.

The model knows nothing of states. It knows who owns an id, what is open, and how each transaction that was really ended
came out. Ids start close to the last epoch, so that producer ids run out often.
"""

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fencepost.errors import ErrorCode
from fencepost.records.record import Record
from fencepost.transactions.checkpoint import dump_state
from fencepost.transactions.log_records import Marker, ProducerIdsRecord, TransactionLogRecord, decode_log_record
from fencepost.transactions.states import TransactionState
from fencepost.types import NO_IDENTITY, ProducerIdentity, TopicPartition
from tests.unit.transactions.driver import CoordinatorDriver

IDS = ["a", "b", "c"]
PARTITIONS = st.lists(st.builds(TopicPartition, st.sampled_from(["t", "u"]), st.integers(0, 2)), min_size=1, max_size=3)
WHO = st.integers(0, 3)
END_VERSIONS = st.sampled_from([4, 5])


@dataclass
class ModelId:
    owner: ProducerIdentity
    opened: frozenset[TopicPartition] | None = None
    handed_out: list[ProducerIdentity] = field(default_factory=list)
    ended_with_bump: dict[ProducerIdentity, bool] = field(default_factory=dict)
    ended_classic: dict[ProducerIdentity, bool] = field(default_factory=dict)

    def moves_to(self, identity: ProducerIdentity) -> None:
        older = self.owner
        assert identity.producer_id != older.producer_id or identity.producer_epoch >= older.producer_epoch
        self.owner = identity
        self.handed_out.append(identity)

    def pick(self, who: int) -> ProducerIdentity:
        """0 is the owner, higher ones are ever older zombies."""
        return self.handed_out[max(0, len(self.handed_out) - 1 - who)] if who else self.owner


class CoordinatorAgainstModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.driver = CoordinatorDriver()
        self.model: dict[str, ModelId] = {}

    @initialize(first_epoch=st.sampled_from([0, 32763, 32765, 32766]))
    def start(self, first_epoch: int) -> None:
        for number, transactional_id in enumerate(IDS):
            self.driver.put_id(transactional_id, producer_id=number, producer_epoch=first_epoch)
            owner = ProducerIdentity(number, first_epoch)
            self.model[transactional_id] = ModelId(owner, handed_out=[owner])

    def current(self, transactional_id: str) -> ProducerIdentity:
        return self.driver.state.transactions[transactional_id].identity

    def expect_unchanged(self, entries_before: int) -> None:
        assert len(self.driver.journal) == entries_before

    def aborted_by_coordinator(self, transactional_id: str) -> None:
        model = self.model[transactional_id]
        model.ended_with_bump[model.owner] = False
        model.opened = None
        model.moves_to(self.current(transactional_id))

    @rule(transactional_id=st.sampled_from(IDS))
    def take_over(self, transactional_id: str) -> None:
        model, before = self.model[transactional_id], self.model[transactional_id].owner
        reply = self.driver.init(transactional_id)
        if model.opened is not None:
            assert reply is ErrorCode.CONCURRENT_TRANSACTIONS
            self.aborted_by_coordinator(transactional_id)
        else:
            assert isinstance(reply, ProducerIdentity)
            model.moves_to(ProducerIdentity(reply.producer_id, reply.producer_epoch))
        assert model.owner != before

    @rule(transactional_id=st.sampled_from(IDS), who=WHO)
    def initialise_with_identity(self, transactional_id: str, who: int) -> None:
        model = self.model[transactional_id]
        presented = model.pick(who)
        entries_before = len(self.driver.journal)
        reply = self.driver.init(transactional_id, presented)
        if reply is ErrorCode.PRODUCER_FENCED:
            assert presented != model.owner
            self.expect_unchanged(entries_before)
        elif reply is ErrorCode.CONCURRENT_TRANSACTIONS:
            assert presented == model.owner
            assert model.opened is not None
            self.aborted_by_coordinator(transactional_id)
        else:
            assert isinstance(reply, ProducerIdentity)
            answered = ProducerIdentity(reply.producer_id, reply.producer_epoch)
            assert model.opened is None
            assert (answered == model.owner) == (presented != model.owner)
            model.moves_to(answered)

    @rule(transactional_id=st.sampled_from(IDS), who=WHO, partitions=PARTITIONS, version=st.sampled_from([0, 2]))
    def add(self, transactional_id: str, who: int, partitions: list[TopicPartition], version: int) -> None:
        model = self.model[transactional_id]
        presented = model.pick(who)
        entries_before = len(self.driver.journal)
        answer = self.driver.add(presented, *partitions, transactional_id=transactional_id, version=version)
        if presented == model.owner:
            assert answer is ErrorCode.NONE
            if model.opened is None:
                model.ended_classic.pop(presented, None)
            model.opened = (model.opened or frozenset()) | frozenset(partitions)
        else:
            assert answer in (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
            self.expect_unchanged(entries_before)

    @rule(
        transactional_id=st.sampled_from(IDS),
        who=WHO,
        is_commit=st.booleans(),
        version=END_VERSIONS,
        crash_after=st.none() | st.integers(0, 12),
    )
    def end(self, transactional_id: str, who: int, is_commit: bool, version: int, crash_after: int | None) -> None:
        model = self.model[transactional_id]
        presented = model.pick(who)
        entries_before = len(self.driver.journal)
        reply = self.driver.end(presented, is_commit=is_commit, version=version, transactional_id=transactional_id)
        appended = self.driver.journal[entries_before:]
        if not appended:
            self.check_answer_without_work(model, presented, is_commit, version, reply)
            return
        assert presented == model.owner
        assert isinstance(reply, ProducerIdentity)
        self.check_markers(appended, model, presented, is_commit=is_commit, version=version)
        if crash_after is not None and crash_after < len(appended):
            self.driver = self.driver.crashed(entries_before + crash_after)
            if crash_after == 0:
                return
        (model.ended_with_bump if version >= 5 else model.ended_classic)[presented] = is_commit
        model.opened = None
        model.moves_to(self.current(transactional_id))
        if version >= 5:
            assert reply == ProducerIdentity(*model.owner)
            assert model.owner != presented

    def check_answer_without_work(
        self, model: ModelId, presented: ProducerIdentity, is_commit: bool, version: int, reply: object
    ) -> None:
        if isinstance(reply, ProducerIdentity):
            ended = model.ended_with_bump if version >= 5 else model.ended_classic
            assert ended.get(presented) is is_commit, "confirmed an end that did not happen"
        else:
            assert isinstance(reply, ErrorCode)
            assert reply is not ErrorCode.CONCURRENT_TRANSACTIONS
            assert presented != model.owner or model.opened is None

    def check_markers(
        self,
        appended: list[Record | Marker],
        model: ModelId,
        presented: ProducerIdentity,
        *,
        is_commit: bool,
        version: int,
    ) -> None:
        prepare, *markers, complete = appended
        assert isinstance(prepare, Record)
        assert isinstance(complete, Record)
        epoch = min(presented.producer_epoch + 1, 32767) if version >= 5 else presented.producer_epoch
        assert markers == [
            Marker(partition, presented.producer_id, epoch, is_commit, 0, 2 if version >= 5 else 0)
            for partition in sorted(model.opened or ())
        ]

    @rule()
    def time_out(self) -> None:
        self.driver.sweep()
        self.driver.pass_time(1_000_000)
        due = self.driver.sweep()
        assert due == sorted(name for name, model in self.model.items() if model.opened is not None)
        for transactional_id in due:
            self.aborted_by_coordinator(transactional_id)

    @rule()
    def allocate(self) -> None:
        assert isinstance(self.driver.init(None), ProducerIdentity)

    @rule()
    def restart(self) -> None:
        before = dump_state(self.driver.state)
        self.driver = self.driver.crashed()
        assert dump_state(self.driver.state) == before

    @invariant()
    def owner_and_openness_agree(self) -> None:
        for transactional_id, model in self.model.items():
            transaction = self.driver.state.transactions[transactional_id]
            assert transaction.client_identity == model.owner
            assert (transaction.state is TransactionState.ONGOING) == (model.opened is not None)
            assert transaction.partitions == (model.opened or frozenset())
            assert 0 <= transaction.producer_epoch <= 32766

    @invariant()
    def identities_only_grow_and_are_never_shared(self) -> None:
        users: dict[int, str] = {}
        latest: dict[str, ProducerIdentity] = {}
        for entry in self.driver.journal:
            record = decode_log_record(entry) if isinstance(entry, Record) else None
            if isinstance(record, ProducerIdsRecord):
                assert (
                    users.setdefault(record.next_producer_id - 1, "an idempotent producer") == "an idempotent producer"
                )
            elif isinstance(record, TransactionLogRecord) and record.transaction is not None:
                identity = record.transaction.identity
                assert users.setdefault(identity.producer_id, record.transactional_id) == record.transactional_id
                assert identity >= latest.get(record.transactional_id, NO_IDENTITY)
                latest[record.transactional_id] = identity


CoordinatorAgainstModel.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestCoordinatorAgainstModel = CoordinatorAgainstModel.TestCase
