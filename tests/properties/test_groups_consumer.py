"""KIP-848 groups under random members: no partition ever has two owners, and all have one when the group rests."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import ErrorCode
from fencepost.groups.consumer_group import ConsumerGroup, TopicIdPartition
from fencepost.groups.consumer_records import apply_consumer_record
from fencepost.groups.states import CONSUMER_GROUP_TRANSITIONS, ConsumerGroupState, MemberState
from tests.unit.groups.coordinator import GROUP, Consumer, Coordinator

TOPICS = ["orders", "returns", "payments"]
SESSION_MS = 45_000

steps = st.one_of(
    st.tuples(
        st.just("start"),
        st.integers(0, 4),
        st.sets(st.sampled_from(TOPICS)),
        st.sampled_from([None, "range", "uniform"]),
        st.booleans(),
    ),
    st.tuples(st.just("beat"), st.integers(0, 4)),
    st.tuples(st.just("lost answer"), st.integers(0, 4)),
    st.tuples(st.just("slow"), st.integers(0, 4)),
    st.tuples(st.just("leave"), st.integers(0, 4), st.booleans()),
    st.tuples(st.just("topic"), st.sampled_from(TOPICS), st.integers(1, 6)),
    st.tuples(st.just("advance"), st.sampled_from([5000, 20_000, SESSION_MS])),
    st.tuples(st.just("restart"), st.booleans()),
)


class Consumers:
    """Clients by number. One that is fenced gives everything up at once, as the protocol demands."""

    def __init__(self) -> None:
        self.coordinator = Coordinator()
        self.running: dict[int, Consumer] = {}
        self.started = 0

    def start(self, number: int, topics: set[str], assignor: str | None, is_static: bool) -> None:
        if number in self.running:
            return
        self.started += 1
        fields = {"server_assignor": assignor} if assignor else {}
        if is_static:
            fields["instance_id"] = f"instance-{number}"
        member_id = f"member-{self.started}"
        self.running[number] = Consumer(self.coordinator, member_id, tuple(sorted(topics)), **fields)
        self.beat(number)

    def beat(self, number: int) -> None:
        consumer = self.running.get(number)
        if consumer is None:
            return
        reply = consumer.beat()
        if reply.error_code != ErrorCode.NONE:
            consumer.member_epoch, consumer.owned = 0, frozenset()

    def beat_without_answer(self, number: int) -> None:
        consumer = self.running.get(number)
        if consumer is not None:
            before = consumer.member_epoch, consumer.owned
            consumer.beat()
            consumer.member_epoch, consumer.owned = before

    def beat_without_revoking(self, number: int) -> None:
        """Takes what it is given, and goes on with what it should give up."""
        consumer = self.running.get(number)
        if consumer is not None:
            before = consumer.owned
            self.beat(number)
            known = self.coordinator.state.consumer[GROUP].members.get(consumer.member_id)
            if known is not None and known.state is MemberState.UNREVOKED_PARTITIONS:
                consumer.owned |= before & known.pending_revocation.keys()

    def leave(self, number: int, *, for_a_while: bool) -> None:
        consumer = self.running.pop(number, None)
        if consumer is not None and consumer.member_epoch > 0:
            consumer.leave(-2 if for_a_while and "instance_id" in consumer.fields else -1)

    def run(self, step: tuple) -> None:
        match step:
            case ("start", number, topics, assignor, is_static):
                self.start(number, topics, assignor, is_static)
            case ("beat", number):
                self.beat(number)
            case ("lost answer", number):
                self.beat_without_answer(number)
            case ("slow", number):
                self.beat_without_revoking(number)
            case ("leave", number, for_a_while):
                self.leave(number, for_a_while=for_a_while)
            case ("topic", name, partition_count):
                known = self.coordinator.topics.topics.get(name)
                self.coordinator.create_topic(name, max(partition_count, known.partition_count if known else 0))
            case ("advance", milliseconds):
                self.coordinator.advance(milliseconds)
                self._notice_expiry()
            case ("restart", checkpoint):
                self.coordinator.restart(checkpoint=checkpoint)

    def _notice_expiry(self) -> None:
        """A consumer that could not send heartbeats for its session's length stops consuming by itself."""
        group = self.coordinator.state.consumer.get(GROUP)
        for consumer in self.running.values():
            if group is None or consumer.member_id not in group.members:
                consumer.member_epoch, consumer.owned = 0, frozenset()

    def check(self) -> None:
        consumed = [each for consumer in self.running.values() for each in consumer.owned]
        assert len(consumed) == len(set(consumed)), "two consumers read one partition"
        group = self.coordinator.state.consumer.get(GROUP)
        if group is not None:
            check_owners(group)


def check_owners(group: ConsumerGroup) -> None:
    owned = [each for member in group.members.values() for each in (*member.assigned, *member.pending_revocation)]
    assert len(owned) == len(set(owned)), "two members own one partition"
    targeted = [each for target in group.target.values() for each in target]
    assert len(targeted) == len(set(targeted))
    for member in group.members.values():
        assert all(0 <= epoch <= group.assignment_epoch for epoch in member.assigned.values())


def topic_partitions(coordinator: Coordinator, names: set[str]) -> set[TopicIdPartition]:
    topics = [coordinator.topics.topics[name] for name in names if name in coordinator.topics.topics]
    return {TopicIdPartition(topic.topic_id, index) for topic in topics for index in range(topic.partition_count)}


@given(st.lists(steps, max_size=50))
@settings(max_examples=300, deadline=None)
def test_no_partition_has_two_owners_and_all_have_one_when_the_group_rests(sequence):
    consumers = Consumers()
    for name in TOPICS[:2]:
        consumers.coordinator.create_topic(name, 3)
    state = ConsumerGroupState.EMPTY
    for step in sequence:
        consumers.run(step)
        consumers.check()
        group = consumers.coordinator.state.consumer.get(GROUP)
        if group is not None:
            assert state is group.state or (state, group.state) in CONSUMER_GROUP_TRANSITIONS
            state = group.state

    # Members that are gone, or away, run into their session's end; the others go on until nothing changes.
    for _ in range(20):
        consumers.coordinator.advance(SESSION_MS // 9)
        for number in consumers.running:
            consumers.beat(number)
        consumers.check()
    group = consumers.coordinator.state.consumer.get(GROUP)
    if not consumers.running:
        assert group is None or group.state is ConsumerGroupState.EMPTY
        return
    assert group is not None
    assert group.state is ConsumerGroupState.STABLE
    subscribed = {name for consumer in consumers.running.values() for name in consumer.fields["subscribed_topic_names"]}
    consumed = {each for consumer in consumers.running.values() for each in consumer.owned}
    assert consumed == topic_partitions(consumers.coordinator, subscribed)


@given(st.lists(steps, max_size=30))
@settings(max_examples=150, deadline=None)
def test_at_no_record_of_the_log_does_a_partition_have_two_owners(sequence):
    consumers = Consumers()
    consumers.coordinator.create_topic("orders", 4)
    for step in sequence:
        consumers.run(step)
    groups: dict[str, ConsumerGroup] = {}
    for entry in consumers.coordinator.log:
        apply_consumer_record(groups, entry.key, entry.value)
        for group in groups.values():
            owned = [
                each for member in group.members.values() for each in (*member.assigned, *member.pending_revocation)
            ]
            assert len(owned) == len(set(owned))
    assert groups == consumers.coordinator.state.consumer
