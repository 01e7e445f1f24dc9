"""DescribeProducers, DescribeTransactions, ListTransactions and WriteTxnMarkers: finding and ending what hangs."""

from typing import Any

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from fencepost.wire.messages.describe_transactions import DescribeTransactionsRequest
from fencepost.wire.messages.list_transactions import ListTransactionsRequest
from fencepost.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.unit.broker.builders import Broker, versions_of
from tests.unit.broker.handlers.test_txn_offset_commit import commit as commit_offset
from tests.unit.broker.handlers.test_txn_offset_commit import fetched

READ_COMMITTED = 1


@pytest.fixture
def shop(broker: Broker) -> tuple[int, int]:
    broker.create_topic("orders", 2)
    return broker.init_producer("shop")


def write(broker: Broker, identity: tuple[int, int], *partitions: int, **more: Any) -> dict[int, int]:
    version = more.pop("version", 2)
    topic = more.pop("topic", "orders")
    marker = WritableTxnMarker(
        producer_id=identity[0],
        producer_epoch=identity[1],
        topics=[WritableTxnMarkerTopic(topic, list(partitions))],
        **more,
    )
    (result,) = broker.ask(WriteTxnMarkersRequest([marker]), version).markers
    assert result.producer_id == identity[0]
    return {each.partition_index: each.error_code for each in result.topics[0].partitions}


def producers(broker: Broker, topic: str = "orders", partition: int = 0) -> Any:
    return broker.ask(DescribeProducersRequest([TopicRequest(topic, [partition])])).topics[0].partitions[0]


def test_a_transaction_is_described_with_its_partitions(broker: Broker, shop: tuple[int, int]) -> None:
    for partition in (1, 0):
        broker.produce_in_transaction("orders", b"a", identity=shop, transactional_id="shop", partition=partition)
    (found,) = broker.ask(DescribeTransactionsRequest(["shop"])).transaction_states
    assert (found.error_code, found.transaction_state, found.transaction_timeout_ms) == (0, "Ongoing", 60_000)
    assert (found.transaction_start_time_ms, found.producer_id, found.producer_epoch) == (broker.now.wall_ms, *shop)
    assert [(topic.topic, topic.partitions) for topic in found.topics] == [("orders", [0, 1])]


@pytest.mark.parametrize("version", versions_of("ListTransactions"))
def test_transactions_are_listed_by_state_and_producer_id(broker: Broker, shop: tuple[int, int], version: int) -> None:
    broker.produce_in_transaction("orders", b"a", identity=shop, transactional_id="shop")
    other = broker.init_producer("other")

    def listed(**filters: Any) -> list[tuple[str, str]]:
        reply = broker.ask(ListTransactionsRequest(**filters), version)
        assert reply.error_code == ErrorCode.NONE
        return [(each.transactional_id, each.transaction_state) for each in reply.transaction_states]

    assert listed() == [("other", "Empty"), ("shop", "Ongoing")]
    assert listed(state_filters=["Ongoing"]) == [("shop", "Ongoing")]
    assert listed(producer_id_filters=[other[0]]) == [("other", "Empty")]


def test_transactions_are_listed_by_duration_and_pattern(broker: Broker, shop: tuple[int, int]) -> None:
    broker.produce_in_transaction("orders", b"a", identity=shop, transactional_id="shop")
    broker.sleep(5_000)

    def listed(version: int = 2, **filters: Any) -> list[str]:
        reply = broker.ask(ListTransactionsRequest(state_filters=["Ongoing"], **filters), version)
        return [each.transactional_id for each in reply.transaction_states]

    assert (listed(duration_filter=4_999), listed(duration_filter=5_000)) == (["shop"], [])
    assert (listed(transactional_id_pattern="sh.*"), listed(transactional_id_pattern="sh")) == (["shop"], [])


@pytest.mark.parametrize("version", versions_of("WriteTxnMarkers"))
def test_an_administrator_can_abort_what_hangs(broker: Broker, shop: tuple[int, int], version: int) -> None:
    broker.produce_in_transaction("orders", b"a", identity=shop, transactional_id="shop")
    (hanging,) = producers(broker).active_producers
    identity = hanging.producer_id, hanging.producer_epoch
    assert write(broker, identity, 0, coordinator_epoch=hanging.coordinator_epoch, version=version) == {0: 0}
    for reader in (broker, broker.after_kill()):
        seen = reader.fetch("orders", isolation_level=READ_COMMITTED)
        assert (seen.last_stable_offset, len(seen.aborted_transactions)) == (2, 1)
        assert producers(reader).active_producers[0].current_txn_start_offset == -1


def test_the_answer_waits_for_the_disk(broker: Broker, shop: tuple[int, int]) -> None:
    broker.produce_in_transaction("orders", b"a", identity=shop, transactional_id="shop")
    marker = WritableTxnMarker(*shop, topics=[WritableTxnMarkerTopic("orders", [0])])
    sent = broker.send(WriteTxnMarkersRequest([marker]), 2)
    assert sent.reply is None
    broker.commit()
    assert sent.reply is not None


def test_a_marker_on_the_offsets_topic_settles_pending_offsets(broker: Broker, shop: tuple[int, int]) -> None:
    assert commit_offset(broker, shop, offset=7) == ErrorCode.NONE
    log = broker.core.groups.log_of("billing").topic_partition
    assert fetched(broker) == (ErrorCode.UNSTABLE_OFFSET_COMMIT, -1)
    assert write(broker, shop, log.partition, topic=log.topic, transaction_result=True) == {log.partition: 0}
    assert fetched(broker) == fetched(broker.after_kill()) == (ErrorCode.NONE, 7)


@pytest.mark.parametrize(
    ("more", "error_code"),
    [
        ({"epoch": -1}, ErrorCode.INVALID_PRODUCER_EPOCH),
        ({"coordinator_epoch": -5}, ErrorCode.TRANSACTION_COORDINATOR_FENCED),
        ({"transaction_version": 2}, ErrorCode.INVALID_PRODUCER_EPOCH),
        ({"topic": "nowhere"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"topic": "__transaction_state"}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ({"producer_id": -1}, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    ],
)
def test_a_marker_that_may_not_be_is_refused_and_the_transaction_stays_open(
    broker: Broker, more: dict[str, Any], error_code: ErrorCode
) -> None:
    broker.create_topic("orders")
    broker.init_producer("shop")
    identity = broker.init_producer("shop")
    broker.produce_in_transaction("orders", b"a", identity=identity, transactional_id="shop")
    presented = more.pop("producer_id", identity[0]), identity[1] + more.pop("epoch", 0)
    assert write(broker, presented, 0, **more) == {0: error_code}
    assert broker.fetch("orders", isolation_level=READ_COMMITTED).last_stable_offset == 0
