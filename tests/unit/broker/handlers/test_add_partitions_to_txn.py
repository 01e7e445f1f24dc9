import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost.wire.messages.describe_transactions import DescribeTransactionsRequest
from tests.unit.broker.builders import Broker, versions_of


def add(
    broker: Broker,
    identity: tuple[int, int],
    *partitions: int,
    version: int = 3,
    topic: str = "orders",
    transactional_id: str = "shop",
    verify_only: bool = False,
) -> dict[int, int]:
    topics = [AddPartitionsToTxnTopic(topic, list(partitions))]
    if version >= 4:
        transaction = AddPartitionsToTxnTransaction(transactional_id, *identity, verify_only, topics)
        (result,) = broker.ask(AddPartitionsToTxnRequest(transactions=[transaction]), version).results_by_transaction
        assert result.transactional_id == transactional_id
        (answered,) = result.topic_results
    else:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=transactional_id,
            v3_and_below_producer_id=identity[0],
            v3_and_below_producer_epoch=identity[1],
            v3_and_below_topics=topics,
        )
        (answered,) = broker.ask(request, version).results_by_topic_v3_and_below
    return {each.partition_index: each.partition_error_code for each in answered.results_by_partition}


@pytest.fixture
def shop(broker: Broker) -> tuple[int, int]:
    broker.create_topic("orders", 3)
    return broker.init_producer("shop")


@pytest.mark.parametrize("version", versions_of("AddPartitionsToTxn"))
def test_added_partitions_are_in_the_transaction_and_stay_there(
    broker: Broker, shop: tuple[int, int], version: int
) -> None:
    assert add(broker, shop, 0, 2, version=version) == {0: 0, 2: 0}
    (described,) = broker.after_kill().ask(DescribeTransactionsRequest(["shop"])).transaction_states
    assert described.transaction_state == "Ongoing"
    assert [(topic.topic, topic.partitions) for topic in described.topics] == [("orders", [0, 2])]


@pytest.mark.parametrize("version", versions_of("AddPartitionsToTxn"))
def test_one_unknown_partition_keeps_all_of_them_out(broker: Broker, shop: tuple[int, int], version: int) -> None:
    assert add(broker, shop, 0, 9, version=version) == {
        0: ErrorCode.OPERATION_NOT_ATTEMPTED,
        9: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    (described,) = broker.ask(DescribeTransactionsRequest(["shop"])).transaction_states
    assert (described.transaction_state, described.topics) == ("Empty", [])


@pytest.mark.parametrize(
    ("version", "error_code"),
    [(1, ErrorCode.INVALID_PRODUCER_EPOCH), (2, ErrorCode.PRODUCER_FENCED), (5, ErrorCode.PRODUCER_FENCED)],
)
def test_another_epoch_is_refused_in_the_words_of_the_version(
    broker: Broker, shop: tuple[int, int], version: int, error_code: ErrorCode
) -> None:
    assert add(broker, (shop[0], shop[1] + 1), 0, version=version) == {0: error_code}


@pytest.mark.parametrize("version", versions_of("AddPartitionsToTxn"))
def test_an_unknown_owner_is_refused(broker: Broker, shop: tuple[int, int], version: int) -> None:
    refused = {0: ErrorCode.INVALID_PRODUCER_ID_MAPPING}
    assert add(broker, shop, 0, version=version, transactional_id="nobody") == refused
    assert add(broker, (shop[0] + 1, shop[1]), 0, version=version) == refused


def test_verification_adds_nothing(broker: Broker, shop: tuple[int, int]) -> None:
    add(broker, shop, 0)
    assert add(broker, shop, 0, 1, version=5, verify_only=True) == {0: 0, 1: ErrorCode.TRANSACTION_ABORTABLE}
    assert add(broker, shop, 1, version=5, verify_only=True) == {1: ErrorCode.TRANSACTION_ABORTABLE}
