"""OffsetCommit, OffsetFetch and OffsetDelete: where a group has got to."""

from uuid import UUID

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from fencepost.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.unit.broker.builders import Broker, versions_of


@pytest.fixture
def shop(broker: Broker) -> Broker:
    broker.create_topic("orders", 2)
    return broker


def commit(  # type: ignore[no-untyped-def]
    broker: Broker,
    offset: int = 7,
    *,
    version: int = 9,
    partition: int = 0,
    topic: str = "orders",
    metadata: str = "",
    **member,
) -> int:
    partitions = [OffsetCommitRequestPartition(partition, offset, committed_metadata=metadata)]
    known = broker.core.state.catalogue.topics.get(topic)
    wanted = OffsetCommitRequestTopic(
        name=topic, partitions=partitions, topic_id=known.topic_id if known else UUID(int=9)
    )
    request = OffsetCommitRequest(**{"group_id": "billing", **member}, topics=[wanted])
    (answered,) = broker.ask(request, version).topics
    return int(answered.partitions[0].error_code)


def fetched(broker: Broker, group_id: str = "billing", version: int = 9) -> dict[tuple[str, int], int]:
    """All of a group's offsets, by name."""
    if version < 8:
        reply = broker.ask(OffsetFetchRequest(group_id=group_id, topics=None), version)
    else:
        (reply,) = broker.ask(
            OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id, topics=None)]), version
        ).groups
    assert reply.error_code == ErrorCode.NONE
    names = broker.core.state.catalogue.names_by_id
    return {
        (names[topic.topic_id] if version >= 10 else topic.name, found.partition_index): found.committed_offset
        for topic in reply.topics
        for found in topic.partitions
    }


def delete(broker: Broker, *partitions: int, topic: str = "orders", group_id: str = "billing"):  # type: ignore[no-untyped-def]
    indexes = [OffsetDeleteRequestPartition(index) for index in partitions]
    return broker.ask(OffsetDeleteRequest(group_id, [OffsetDeleteRequestTopic(topic, indexes)]))


@pytest.mark.parametrize("version", versions_of("OffsetCommit"))
def test_a_committed_offset_is_there_after_a_kill(shop: Broker, version: int) -> None:
    assert commit(shop, 7, version=version) == ErrorCode.NONE
    assert fetched(shop.after_kill()) == {("orders", 0): 7}


@pytest.mark.parametrize("version", [version for version in versions_of("OffsetFetch") if version >= 2])
def test_all_offsets_of_a_group_are_asked_for_by_null(shop: Broker, version: int) -> None:
    commit(shop, 7)
    commit(shop, 8, partition=1)
    assert fetched(shop, version=version) == {("orders", 0): 7, ("orders", 1): 8}
    assert fetched(shop, "nobody", version=version) == {}


@pytest.mark.parametrize("version", [version for version in versions_of("OffsetFetch") if version < 8])
def test_partitions_without_an_offset_are_answered_with_minus_one(shop: Broker, version: int) -> None:
    commit(shop, 7, metadata="note")
    request = OffsetFetchRequest(group_id="billing", topics=[OffsetFetchRequestTopic("orders", [0, 1, 9])])
    (topic,) = shop.ask(request, version).topics
    found = [(each.partition_index, each.committed_offset, each.metadata, each.error_code) for each in topic.partitions]
    assert found == [(0, 7, "note", 0), (1, -1, "", 0), (9, -1, "", 0)]


@pytest.mark.parametrize("version", [version for version in versions_of("OffsetFetch") if version >= 8])
def test_several_groups_are_fetched_at_once(shop: Broker, version: int) -> None:
    commit(shop, 7)
    commit(shop, 3, group_id="shipping")
    topics = [OffsetFetchRequestTopics(name="orders", topic_id=shop.topic_id("orders"), partition_indexes=[0])]
    groups = [OffsetFetchRequestGroup(group_id=each, topics=topics) for each in ("billing", "shipping", "nobody")]
    answered = shop.ask(OffsetFetchRequest(groups=groups), version).groups
    offsets = {group.group_id: group.topics[0].partitions[0].committed_offset for group in answered}
    assert offsets == {"billing": 7, "shipping": 3, "nobody": -1}


def test_an_unknown_topic_id_is_refused_in_v10(shop: Broker) -> None:
    topics = [OffsetFetchRequestTopics(topic_id=UUID(int=9), partition_indexes=[0])]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="billing", topics=topics)])
    (group,) = shop.ask(request, 10).groups
    assert group.topics[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert commit(shop, topic="nowhere", version=10) == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize(
    ("more", "error_code"),
    [
        pytest.param({"partition": 9}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, id="index"),
        pytest.param({"topic": "nowhere"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, id="topic"),
        pytest.param({"metadata": "x" * 5000}, ErrorCode.OFFSET_METADATA_TOO_LARGE, id="metadata"),
        pytest.param(
            {"member_id": "ghost", "generation_id_or_member_epoch": 3}, ErrorCode.GROUP_ID_NOT_FOUND, id="no such group"
        ),
    ],
)
def test_an_offset_that_cannot_be_committed_is_refused(
    shop: Broker, more: dict[str, object], error_code: ErrorCode
) -> None:
    assert commit(shop, **more) == error_code  # type: ignore[arg-type]
    assert fetched(shop) == {}


def test_a_bad_partition_does_not_keep_the_others_from_being_committed(shop: Broker) -> None:
    partitions = [OffsetCommitRequestPartition(index, 5) for index in (0, 9)]
    request = OffsetCommitRequest(
        group_id="billing", topics=[OffsetCommitRequestTopic(name="orders", partitions=partitions)]
    )
    (topic,) = shop.ask(request, 9).topics
    assert {each.partition_index: each.error_code for each in topic.partitions} == {
        0: ErrorCode.NONE,
        9: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert fetched(shop) == {("orders", 0): 5}


def test_the_offsets_of_a_deleted_topic_are_forgotten(shop: Broker) -> None:
    commit(shop)
    shop.ask(DeleteTopicsRequest(topics=[DeleteTopicState(name="orders")]))
    assert fetched(shop) == {}


def test_deleted_offsets_are_gone_for_good(shop: Broker) -> None:
    commit(shop, 7)
    commit(shop, 8, partition=1)
    reply = delete(shop, 0, 9)
    assert reply.error_code == ErrorCode.NONE
    assert {each.partition_index: each.error_code for each in reply.topics[0].partitions} == {
        0: ErrorCode.NONE,
        9: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert fetched(shop) == fetched(shop.after_kill()) == {("orders", 1): 8}


def test_offsets_of_a_group_that_does_not_exist_cannot_be_deleted(shop: Broker) -> None:
    reply = delete(shop, 0, group_id="nobody")
    assert (reply.error_code, reply.topics) == (ErrorCode.GROUP_ID_NOT_FOUND, [])
    assert delete(shop, 0, group_id="").error_code == ErrorCode.INVALID_GROUP_ID
