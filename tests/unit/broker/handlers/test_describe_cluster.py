"""DescribeCluster, DescribeTopicPartitions and DescribeLogDirs."""

from typing import Any

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.describe_cluster import DescribeClusterRequest
from fencepost.wire.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from fencepost.wire.messages.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest, TopicRequest
from tests.unit.broker.builders import HOST, PORT, Broker, versions_of


@pytest.mark.parametrize("version", versions_of("DescribeCluster"))
def test_the_cluster_is_this_broker(broker: Broker, version: int) -> None:
    reply = broker.ask(DescribeClusterRequest(include_cluster_authorized_operations=True), version)
    assert (reply.error_code, reply.controller_id, reply.cluster_authorized_operations) == (ErrorCode.NONE, 1, 8096)
    assert reply.cluster_id == broker.core.state.catalogue.cluster_id
    assert [(each.broker_id, each.host, each.port) for each in reply.brokers] == [(1, HOST, PORT)]


@pytest.mark.parametrize(
    ("endpoint_type", "error_code"),
    [(2, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (9, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)],
)
def test_there_are_no_endpoints_but_the_brokers(broker: Broker, endpoint_type: int, error_code: ErrorCode) -> None:
    reply = broker.ask(DescribeClusterRequest(endpoint_type=endpoint_type), 1)
    assert (reply.error_code, reply.brokers) == (error_code, [])


@pytest.fixture
def shop(broker: Broker) -> Broker:
    broker.create_topic("b", 3)
    broker.create_topic("a", 2)
    return broker


def page(broker: Broker, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None) -> Any:
    request = DescribeTopicPartitionsRequest(
        [TopicRequest(name) for name in names], limit, None if cursor is None else Cursor(*cursor)
    )
    reply = broker.ask(request)
    shown = [(topic.name, [each.partition_index for each in topic.partitions]) for topic in reply.topics]
    after = reply.next_cursor
    return shown, None if after is None else (after.topic_name, after.partition_index)


def test_topics_come_in_order_of_name_whatever_was_asked(shop: Broker) -> None:
    assert page(shop, "b", "a") == ([("a", [0, 1]), ("b", [0, 1, 2])], None)


def test_a_page_ends_at_the_limit_and_says_where_the_next_begins(shop: Broker) -> None:
    assert page(shop, "a", "b", limit=3) == ([("a", [0, 1]), ("b", [0])], ("b", 1))
    assert page(shop, "a", "b", limit=2) == ([("a", [0, 1])], ("b", 0))
    assert page(shop, "a", "b", limit=2, cursor=("b", 1)) == ([("b", [1, 2])], None)


@pytest.mark.parametrize("limit", [-1, 0, 1])
def test_every_page_makes_progress(shop: Broker, limit: int) -> None:
    assert page(shop, "a", "b", limit=limit) == ([("a", [0])], ("a", 1))


def test_the_pages_together_are_everything(shop: Broker) -> None:
    everything, after = page(shop)
    assert after is None
    seen: dict[str, list[int]] = {}
    cursor = None
    while True:
        shown, cursor = page(shop, limit=2, cursor=cursor)
        for name, partitions in shown:
            seen.setdefault(name, []).extend(partitions)
        if cursor is None:
            break
    assert list(seen.items()) == everything


def test_unknown_topics_are_told_and_take_part_in_the_count(shop: Broker) -> None:
    reply = shop.ask(DescribeTopicPartitionsRequest([TopicRequest(name) for name in ("a", "nowhere", "a b")]))
    assert {topic.name: topic.error_code for topic in reply.topics} == {
        "a": ErrorCode.NONE,
        "a b": ErrorCode.INVALID_TOPIC_EXCEPTION,
        "nowhere": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert page(shop, "nowhere", "b", limit=3) == ([("b", [0, 1, 2])], ("nowhere", 0))


@pytest.mark.parametrize("cursor", [("aa", 0), ("a", -1)])
def test_a_cursor_that_points_nowhere_is_refused(shop: Broker, cursor: tuple[str, int]) -> None:
    reply = shop.ask(DescribeTopicPartitionsRequest([TopicRequest("a")], 2000, Cursor(*cursor)))
    assert [(topic.name, topic.error_code) for topic in reply.topics] == [("a", ErrorCode.INVALID_REQUEST)]


def test_a_cursor_behind_the_last_partition_shows_none_of_them(shop: Broker) -> None:
    assert page(shop, "a", cursor=("a", 9)) == ([("a", [])], None)


@pytest.mark.parametrize("version", versions_of("DescribeLogDirs"))
def test_the_data_folder_tells_what_each_partition_takes_up(shop: Broker, version: int) -> None:
    shop.core.log_dir = "data"
    shop.produce("a", b"x" * 1000)
    wanted = [DescribableLogDirTopic("a", [0, 1, 9]), DescribableLogDirTopic("nowhere", [0])]
    (result,) = shop.ask(DescribeLogDirsRequest(wanted), version).results
    assert (result.error_code, result.log_dir, result.total_bytes, result.usable_bytes) == (0, "data", -1, -1)
    (topic,) = result.topics
    sizes = {each.partition_index: each.partition_size for each in topic.partitions}
    assert sizes.keys() == {0, 1}
    assert 1000 < sizes[0] < 1200
    assert sizes[1] == 0


def test_null_asks_for_all_partitions_and_an_empty_list_for_none(shop: Broker) -> None:
    (everything,) = shop.ask(DescribeLogDirsRequest(None)).results
    assert {topic.name for topic in everything.topics} == set(shop.core.state.catalogue.topics)
    (nothing,) = shop.ask(DescribeLogDirsRequest([])).results
    assert nothing.topics == []
