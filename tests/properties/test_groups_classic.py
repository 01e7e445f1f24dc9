"""Classic groups under random members: none waits forever or is answered twice, a restart forgets nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import ErrorCode
from fencepost.groups.states import ClassicGroupState
from fencepost.wire.messages.join_group import JoinGroupRequestProtocol as Protocol
from fencepost.wire.messages.leave_group import MemberIdentity
from tests.unit.groups.coordinator import GROUP, REBALANCE_MS, Coordinator

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
INSTANCES = [None, None, "one", "two"]
PROTOCOLS = [
    (Protocol("range", b"x"),),
    (Protocol("range", b"y"), Protocol("sticky", b"z")),
    (Protocol("sticky", b""),),
]

steps = st.one_of(
    st.tuples(st.just("join"), st.integers(0, 4), st.sampled_from(INSTANCES), st.sampled_from(PROTOCOLS)),
    st.tuples(st.just("sync"), st.integers(0, 4)),
    st.tuples(st.just("heartbeat"), st.integers(0, 4)),
    st.tuples(st.just("leave"), st.integers(0, 4)),
    st.tuples(st.just("commit"), st.integers(0, 4)),
    st.tuples(st.just("advance"), st.sampled_from([1, 500, 3000, 6000, REBALANCE_MS])),
    st.tuples(st.just("restart"), st.booleans()),
)


class Members:
    """Clients that follow the protocol, more or less: they use the last id and generation that they heard of."""

    def __init__(self) -> None:
        self.coordinator = Coordinator(group_initial_rebalance_delay_ms=1000, group_max_size=4)
        self.joins: dict[int, int] = {}
        self.waiting: set[int] = set()
        self.instances: dict[int, str | None] = {}

    def known(self, client: int) -> tuple[str, int]:
        reply = self.coordinator.answered.get(self.joins.get(client, -1))
        return ("", -1) if reply is None else (reply.member_id, reply.generation_id)

    def ask(self, token: int) -> int:
        self.waiting.add(token)
        return token

    def run(self, step: tuple) -> None:
        match step:
            case ("join", client, instance_id, protocols):
                member_id = self.known(client)[0] if self.instances.get(client) == instance_id else ""
                self.instances[client] = instance_id
                fields = {"group_instance_id": instance_id, "protocols": protocols}
                self.joins[client] = self.ask(self.coordinator.join(member_id, **fields))
            case ("sync", client):
                member_id, generation_id = self.known(client)
                fields = {"protocol_name": None, "protocol_type": None, "api_version": 3}
                self.ask(self.coordinator.sync(member_id, generation_id, {member_id: b"mine"}, **fields))
            case ("heartbeat", client):
                self.coordinator.heartbeat(*self.known(client))
            case ("leave", client):
                self.coordinator.leave(MemberIdentity(self.known(client)[0], self.instances.get(client)))
            case ("commit", client):
                member_id, generation_id = self.known(client)
                self.coordinator.commit(1, member_id=member_id, generation_id_or_member_epoch=generation_id)
            case ("advance", milliseconds):
                self.coordinator.advance(milliseconds)
            case ("restart", checkpoint):
                # Connections are lost with the broker.
                self.waiting &= self.coordinator.answered.keys()
                self.coordinator.restart(checkpoint=checkpoint)


def check(coordinator: Coordinator) -> None:
    group = coordinator.state.classic.get(GROUP)
    if group is None:
        return
    assert bool(group.members) == (group.leader is not None)
    assert group.leader is None or group.leader in group.members
    assert len(group.members) <= 4
    instances = [member.group_instance_id for member in group.members.values() if member.is_static]
    assert len(instances) == len(set(instances))
    for member in group.members.values():
        assert member.session_deadline_ms is not None
        assert not member.is_awaiting_join or group.state is ClassicGroupState.PREPARING_REBALANCE
        assert not member.is_awaiting_sync or group.state is ClassicGroupState.COMPLETING_REBALANCE
    if group.state in (ClassicGroupState.EMPTY, ClassicGroupState.DEAD):
        assert not group.members
    if group.state in (ClassicGroupState.COMPLETING_REBALANCE, ClassicGroupState.STABLE):
        assert group.protocol_name in group.candidate_protocols()


@given(st.lists(steps, max_size=40))
@settings(max_examples=300, deadline=None)
def test_random_members_keep_the_group_sound_and_none_waits_forever(sequence):
    members = Members()
    generation_id = 0
    for step in sequence:
        members.run(step)
        check(members.coordinator)
        if step[0] == "restart":
            generation_id = 0
        group = members.coordinator.state.classic.get(GROUP)
        if group is not None:
            assert group.generation_id >= generation_id
            generation_id = group.generation_id
    members.coordinator.advance(NEW_MEMBER_JOIN_TIMEOUT_MS + 3 * REBALANCE_MS)
    assert members.waiting <= members.coordinator.answered.keys()
    group = members.coordinator.state.classic.get(GROUP)
    assert group is None or group.is_empty, "members that fall silent are forgotten"


@given(st.lists(steps, max_size=30))
@settings(max_examples=100, deadline=None)
def test_after_any_history_new_members_can_form_a_stable_group(sequence):
    members = Members()
    for step in sequence:
        members.run(step)
    coordinator = members.coordinator
    coordinator.advance(NEW_MEMBER_JOIN_TIMEOUT_MS + 3 * REBALANCE_MS)
    ids = [coordinator.member_id(), coordinator.member_id()]
    tokens = [coordinator.join(member_id) for member_id in ids]
    coordinator.advance(3000)
    leader, follower = (coordinator.answered[token] for token in tokens)
    assert leader.generation_id == follower.generation_id
    waiting = coordinator.sync(follower.member_id, leader.generation_id)
    coordinator.sync(leader.member_id, leader.generation_id, {follower.member_id: b"share"})
    assert coordinator.answered[waiting].error_code == ErrorCode.NONE
    assert coordinator.answered[waiting].assignment == b"share"
