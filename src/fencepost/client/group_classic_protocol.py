"""What members of a classic group tell each other through the coordinator: subscriptions and assignments. Pure."""

from collections.abc import Iterable
from struct import Struct

from fencepost.client.assignors import ASSIGN, COOPERATIVE, Member, PartitionCounts
from fencepost.types import TopicPartition
from fencepost.wire.messages import consumer_protocol_assignment as assignment_messages
from fencepost.wire.messages import consumer_protocol_subscription as subscription_messages
from fencepost.wire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from fencepost.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from fencepost.wire.messages.join_group import JoinGroupRequestProtocol, JoinGroupResponseMember
from fencepost.wire.messages.sync_group import SyncGroupRequestAssignment

SUBSCRIPTION_VERSION = 3
ASSIGNMENT_VERSION = 3
PROTOCOL_TYPE = "consumer"

_GENERATION = Struct(">i")
"""User data of cooperative-sticky: the generation, for members that speak a subscription older than version 2."""


def is_cooperative(assignors: Iterable[str]) -> bool:
    """Partitions are kept through a rebalance only if every assignor that may be chosen plays along."""
    return all(name in COOPERATIVE for name in assignors)


def protocols(
    assignors: Iterable[str], topics: Iterable[str], owned: Iterable[TopicPartition], generation_id: int
) -> list[JoinGroupRequestProtocol]:
    offered = []
    for name in assignors:
        subscription = ConsumerProtocolSubscription(
            topics=sorted(topics),
            user_data=_GENERATION.pack(generation_id) if name in COOPERATIVE else None,
            owned_partitions=[
                subscription_messages.TopicPartition(topic, indexes) for topic, indexes in _by_topic(owned).items()
            ],
            generation_id=generation_id,
        )
        offered.append(JoinGroupRequestProtocol(name, subscription.to_bytes(SUBSCRIPTION_VERSION)))
    return offered


def read_members(rows: Iterable[JoinGroupResponseMember]) -> list[Member]:
    members = []
    for row in rows:
        subscription = ConsumerProtocolSubscription.from_bytes(row.metadata)
        generation_id = subscription.generation_id
        if generation_id < 0 and subscription.user_data is not None and len(subscription.user_data) == _GENERATION.size:
            generation_id = _GENERATION.unpack(subscription.user_data)[0]
        members.append(
            Member(
                member_id=row.member_id,
                topics=frozenset(subscription.topics),
                group_instance_id=row.group_instance_id,
                owned=tuple(
                    TopicPartition(topic.topic, index)
                    for topic in subscription.owned_partitions
                    for index in topic.partitions
                ),
                generation_id=generation_id,
            )
        )
    return members


def assign(assignor: str, members: list[Member], counts: PartitionCounts) -> list[SyncGroupRequestAssignment]:
    return [
        SyncGroupRequestAssignment(member_id, _encode_assignment(partitions))
        for member_id, partitions in ASSIGN[assignor](members, counts).items()
    ]


def read_assignment(data: bytes) -> frozenset[TopicPartition]:
    """An empty answer is an empty assignment: the leader had nothing for this member."""
    if not data:
        return frozenset()
    assignment = ConsumerProtocolAssignment.from_bytes(data)
    return frozenset(
        TopicPartition(topic.topic, index) for topic in assignment.assigned_partitions for index in topic.partitions
    )


def _encode_assignment(partitions: Iterable[TopicPartition]) -> bytes:
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=[
            assignment_messages.TopicPartition(topic, indexes) for topic, indexes in _by_topic(partitions).items()
        ]
    )
    return assignment.to_bytes(ASSIGNMENT_VERSION)


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for where in sorted(partitions):
        topics.setdefault(where.topic, []).append(where.partition)
    return topics
