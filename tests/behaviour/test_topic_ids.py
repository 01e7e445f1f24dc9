"""Versions of Produce, Fetch, OffsetCommit and OffsetFetch that name topics by id."""

from typing import Any
from uuid import UUID

from fencepost.errors import ErrorCode
from fencepost.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from fencepost.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.behaviour.peer import Peer
from tests.behaviour.producing import batch_of, values_in

UNKNOWN = UUID(int=77)


def produce(peer: Peer, topic_id: UUID) -> Any:
    data = TopicProduceData(topic_id=topic_id, partition_data=[PartitionProduceData(0, batch_of(b"by id"))])
    [answer] = peer.put(ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=[data]), 13).responses
    assert answer.topic_id == topic_id
    return answer.partition_responses[0]


def fetch(peer: Peer, topic_id: UUID, version: int) -> Any:
    wanted = FetchTopic(topic_id=topic_id, partitions=[FetchPartition(0, partition_max_bytes=1 << 20)])
    answer = peer.put(FetchRequest(max_wait_ms=0, topics=[wanted]), version)
    assert answer.error_code == 0
    assert answer.responses[0].topic_id == topic_id
    return answer.responses[0].partitions[0]


def test_records_by_id(peer: Peer) -> None:
    topic_id = peer.describe_topic(peer.create_topic()).topic_id
    assert produce(peer, topic_id).error_code == 0
    for version in range(13, 19):
        assert values_in(fetch(peer, topic_id, version)) == [b"by id"]


def test_an_unknown_id_is_named(peer: Peer) -> None:
    assert produce(peer, UNKNOWN).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert fetch(peer, UNKNOWN, 13).error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_offsets_by_id(peer: Peer) -> None:
    group, topic_id = peer.name("group"), peer.describe_topic(peer.create_topic()).topic_id
    topics = [
        OffsetCommitRequestTopic(topic_id=each, partitions=[OffsetCommitRequestPartition(0, 11)])
        for each in (topic_id, UNKNOWN)
    ]
    answer = peer.put(OffsetCommitRequest(group_id=group, topics=topics), 10)
    codes = {each.topic_id: each.partitions[0].error_code for each in answer.topics}
    assert codes == {topic_id: 0, UNKNOWN: ErrorCode.UNKNOWN_TOPIC_ID}
    wanted = [OffsetFetchRequestTopics(topic_id=each, partition_indexes=[0]) for each in (topic_id, UNKNOWN)]
    [found] = peer.put(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=wanted)]), 10).groups
    offsets = {
        each.topic_id: (each.partitions[0].error_code, each.partitions[0].committed_offset) for each in found.topics
    }
    assert offsets == {topic_id: (0, 11), UNKNOWN: (ErrorCode.UNKNOWN_TOPIC_ID, -1)}
