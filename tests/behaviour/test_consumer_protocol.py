"""ConsumerGroupHeartbeat (KIP-848): joining, strangers, stale epochs, leaving, and groups of the other kind."""

import uuid
from typing import Any

from fencepost.errors import ErrorCode
from fencepost.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from tests.behaviour.grouping import join, offset_commit
from tests.behaviour.peer import Peer, until

LEAVE, STATIC_LEAVE = -1, -2


def beat(peer: Peer, group: str, member_id: str, member_epoch: int, **fields: Any) -> Any:
    """A heartbeat that says all a joining member says, unless told otherwise."""
    said: dict[str, Any] = {"rebalance_timeout_ms": 30_000, "subscribed_topic_names": ["none"], "topic_partitions": []}
    request = ConsumerGroupHeartbeatRequest(
        group_id=group, member_id=member_id, member_epoch=member_epoch, **(said | fields)
    )
    return peer.put(request, 1)


def steady_beat(peer: Peer, group: str, member_id: str, member_epoch: int, **fields: Any) -> Any:
    quiet: dict[str, Any] = {"rebalance_timeout_ms": -1, "subscribed_topic_names": None, "topic_partitions": None}
    return beat(peer, group, member_id, member_epoch, **(quiet | fields))


def new_member(peer: Peer, group: str, topic: str) -> tuple[str, int]:
    member_id = str(uuid.uuid4())
    answer = until(
        lambda: beat(peer, group, member_id, 0, subscribed_topic_names=[topic]),
        lambda found: found.error_code != ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    )
    assert answer.error_code == 0, answer
    return member_id, answer.member_epoch


def test_a_member_alone_gets_everything(peer: Peer) -> None:
    topic, group, member_id = peer.create_topic(partitions=3), peer.name("group"), str(uuid.uuid4())
    answer = beat(peer, group, member_id, 0, subscribed_topic_names=[topic])
    assert (answer.error_code, answer.member_id) == (0, member_id)
    assert answer.member_epoch > 0
    [assigned] = answer.assignment.topic_partitions
    assert (assigned.topic_id, sorted(assigned.partitions)) == (peer.describe_topic(topic).topic_id, [0, 1, 2])
    owned = [TopicPartitions(assigned.topic_id, assigned.partitions)]
    again = steady_beat(peer, group, member_id, answer.member_epoch, topic_partitions=owned)
    assert (again.error_code, again.member_epoch) == (0, answer.member_epoch)


def test_a_second_member_takes_over_what_the_first_gives_up(peer: Peer) -> None:
    topic, group = peer.create_topic(partitions=2), peer.name("group")
    topic_id = peer.describe_topic(topic).topic_id
    first, epoch = new_member(peer, group, topic)
    steady_beat(peer, group, first, epoch, topic_partitions=[TopicPartitions(topic_id, [0, 1])])
    second, second_epoch = new_member(peer, group, topic)
    revoking = until(
        lambda: steady_beat(peer, group, first, epoch), lambda found: found.assignment is not None or found.error_code
    )
    assert (revoking.error_code, revoking.member_epoch) == (0, epoch)
    [kept] = revoking.assignment.topic_partitions
    assert len(kept.partitions) == 1
    given_up = steady_beat(peer, group, first, epoch, topic_partitions=[TopicPartitions(topic_id, kept.partitions)])
    assert given_up.error_code == 0
    taken = until(
        lambda: steady_beat(peer, group, second, second_epoch, topic_partitions=[]),
        lambda found: found.assignment is not None and found.assignment.topic_partitions,
    )
    assert set(taken.assignment.topic_partitions[0].partitions) == {0, 1} - set(kept.partitions)


def test_strangers_and_wrong_epochs_are_refused(peer: Peer) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    member_id, epoch = new_member(peer, group, topic)
    assert steady_beat(peer, group, str(uuid.uuid4()), 3).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert steady_beat(peer, group, member_id, epoch + 5).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert steady_beat(peer, peer.name("no-group"), member_id, 3).error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_first_heartbeat_says_what_it_wants(peer: Peer) -> None:
    group, member_id = peer.name("group"), str(uuid.uuid4())
    invalid = ErrorCode.INVALID_REQUEST
    assert beat(peer, "", member_id, 0).error_code == invalid
    assert beat(peer, group, "", 0).error_code == invalid
    assert beat(peer, group, member_id, 0, rebalance_timeout_ms=-1).error_code == invalid
    assert beat(peer, group, member_id, 0, subscribed_topic_names=None).error_code == invalid
    assert beat(peer, group, member_id, 0, topic_partitions=None).error_code == invalid
    assert beat(peer, group, member_id, -3).error_code == invalid
    assert beat(peer, group, member_id, 0, server_assignor="no-such").error_code == ErrorCode.UNSUPPORTED_ASSIGNOR


def test_a_member_leaves(peer: Peer) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    member_id, _ = new_member(peer, group, topic)
    left = steady_beat(peer, group, member_id, LEAVE)
    assert (left.error_code, left.member_epoch) == (0, LEAVE)
    assert steady_beat(peer, group, member_id, 1).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_instance_that_is_alive_is_not_taken_over(peer: Peer) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    said = {"instance_id": "instance", "subscribed_topic_names": [topic]}
    assert beat(peer, group, str(uuid.uuid4()), 0, **said).error_code == 0
    taken = beat(peer, group, str(uuid.uuid4()), 0, **said)
    assert taken.error_code == ErrorCode.UNRELEASED_INSTANCE_ID


def test_an_instance_that_left_for_a_while_comes_back_to_its_partitions(peer: Peer) -> None:
    topic, group = peer.create_topic(partitions=2), peer.name("group")
    said = {"instance_id": "instance", "subscribed_topic_names": [topic]}
    old, new = str(uuid.uuid4()), str(uuid.uuid4())
    assert beat(peer, group, old, 0, **said).error_code == 0
    away = steady_beat(peer, group, old, STATIC_LEAVE, instance_id="instance")
    assert (away.error_code, away.member_epoch) == (0, STATIC_LEAVE)
    back = beat(peer, group, new, 0, **said)
    assert (back.error_code, sorted(back.assignment.topic_partitions[0].partitions)) == (0, [0, 1])


def test_offsets_are_committed_with_the_members_epoch(peer: Peer) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    member_id, epoch = new_member(peer, group, topic)
    said = {"member_id": member_id, "generation_id_or_member_epoch": epoch, "version": 9}
    assert offset_commit(peer.client, group, topic, 1, **said) == 0
    later = said | {"generation_id_or_member_epoch": epoch + 1}
    assert offset_commit(peer.client, group, topic, 1, **later) == ErrorCode.STALE_MEMBER_EPOCH
    stranger = said | {"member_id": "stranger"}
    assert offset_commit(peer.client, group, topic, 1, **stranger) == ErrorCode.UNKNOWN_MEMBER_ID
    assert offset_commit(peer.client, group, topic, 1, version=9) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_with_members_of_one_kind_refuses_the_other(peer: Peer) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    new_member(peer, group, topic)
    assert join(peer.client, group, protocol_type="connect").error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_groups_are_described(peer: Peer) -> None:
    topic, group = peer.create_topic(), peer.name("group")
    member_id, epoch = new_member(peer, group, topic)
    answer = peer.put(ConsumerGroupDescribeRequest(group_ids=[group, peer.name("no-group")]), 1)
    found, absent = answer.groups
    assert (found.error_code, found.group_state, found.assignor_name) == (0, "Stable", "uniform")
    assert [(each.member_id, each.member_epoch, each.member_type) for each in found.members] == [(member_id, epoch, 1)]
    assert (absent.error_code, absent.group_state) == (ErrorCode.GROUP_ID_NOT_FOUND, "")
