import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.unit.broker.builders import Broker, batch_of, produce_request, versions_of


@pytest.fixture
def filled(broker: Broker) -> Broker:
    broker.create_topic("orders")
    broker.produce("orders", b"a", b"b")
    return broker


def request_for(*wanted: OffsetForLeaderPartition, topic: str = "orders") -> OffsetForLeaderEpochRequest:
    return OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(topic, list(wanted))])


@pytest.mark.parametrize("version", versions_of("OffsetForLeaderEpoch"))
@pytest.mark.parametrize(
    ("known", "asked", "answer"),
    [
        (-1, 0, (ErrorCode.NONE, 0, 2)),
        (0, 0, (ErrorCode.NONE, 0, 2)),
        (-1, 1, (ErrorCode.NONE, -1, -1)),
        (-1, -1, (ErrorCode.NONE, -1, -1)),
        (5, 0, (ErrorCode.UNKNOWN_LEADER_EPOCH, -1, -1)),
    ],
)
def test_the_one_epoch_ends_where_readers_do(
    filled: Broker, version: int, known: int, asked: int, answer: tuple[int, int, int]
) -> None:
    (topic,) = filled.ask(request_for(OffsetForLeaderPartition(0, known, asked)), version).topics
    (found,) = topic.partitions
    assert (found.error_code, found.leader_epoch, found.end_offset) == answer


def test_what_is_not_synced_is_not_shown(filled: Broker) -> None:
    filled.send(produce_request("orders", batch_of(b"c")), 12)
    reply = filled.send(request_for(OffsetForLeaderPartition(0, -1, 0)), 4).reply
    assert reply.topics[0].partitions[0].end_offset == 2


def test_unknown_partitions_are_refused_one_by_one(filled: Broker) -> None:
    wanted = [OffsetForLeaderPartition(index, -1, 0) for index in (0, 9)]
    (topic,) = filled.ask(request_for(*wanted)).topics
    assert [found.error_code for found in topic.partitions] == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
