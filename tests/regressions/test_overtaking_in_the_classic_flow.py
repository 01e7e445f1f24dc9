"""A batch that is refused for a moment comes again; none that was in flight behind it may be stored before.

With an epoch for each transaction (Produce v12) a producer starts at 0. In the classic flow one that the partition does
not know may start anywhere, so the partition has to remember what was on its way to it.
"""

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from fencepost.wire.messages.end_txn import EndTxnRequest
from tests.unit.broker.builders import Broker, batch_of, produce_request

CLASSIC_PRODUCE, CLASSIC_FLOW = 11, 3
OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


class Shop:
    def __init__(self, first_sequence: int) -> None:
        self.broker = Broker()
        self.broker.create_topic("orders", max_message_bytes="10000000")
        self.identity = self.broker.init_producer("shop")
        self._first_sequence = first_sequence

    def add_partition(self) -> None:
        producer_id, producer_epoch = self.identity
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="shop",
            v3_and_below_producer_id=producer_id,
            v3_and_below_producer_epoch=producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic("orders", [0])],
        )
        self.broker.ask(request, CLASSIC_FLOW)

    def send(self, number: int, size_bytes: int = 1) -> ErrorCode:
        producer_id, producer_epoch = self.identity
        batch = batch_of(
            b"%d" % number * size_bytes,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=self._first_sequence + number,
            is_transactional=True,
        )
        request = produce_request("orders", batch)
        request.transactional_id = "shop"
        answer = self.broker.ask(request, CLASSIC_PRODUCE).responses[0].partition_responses[0]
        return ErrorCode(answer.error_code)

    def commit(self) -> ErrorCode:
        return ErrorCode(
            self.broker.ask(EndTxnRequest("shop", *self.identity, committed=True), CLASSIC_FLOW).error_code
        )


@pytest.fixture(params=[0, 50], ids=lambda sequence: f"from-{sequence}")
def shop(request: pytest.FixtureRequest) -> Shop:
    return Shop(request.param)


def test_a_batch_waits_for_one_that_was_sent_before_its_partition_was_added(shop: Shop) -> None:
    assert shop.send(0) is not ErrorCode.NONE
    shop.add_partition()
    assert shop.send(1) is OUT_OF_ORDER
    assert [shop.send(0), shop.send(1), shop.commit()] == [ErrorCode.NONE] * 3
    assert shop.broker.values("orders")[:2] == [b"0", b"1"]


def test_a_batch_waits_for_one_that_met_a_full_disk(shop: Shop) -> None:
    shop.add_partition()
    shop.broker.disk.capacity_bytes = 0
    while ErrorCode(shop.broker.produce("orders", b"a" * 900_000).error_code) is ErrorCode.NONE:
        pass
    assert shop.send(0, 900_000) is ErrorCode.KAFKA_STORAGE_ERROR
    shop.broker.disk.capacity_bytes = None
    assert shop.send(1) is OUT_OF_ORDER
    assert [shop.send(0, 900_000), shop.send(1), shop.commit()] == [ErrorCode.NONE] * 3


def test_a_batch_that_never_came_again_is_forgotten_with_time(shop: Shop) -> None:
    assert shop.send(0) is not ErrorCode.NONE
    shop.add_partition()
    log = shop.broker.core.log("orders", 0)
    assert log is not None
    assert list(log.state.waiting) == [shop.identity[0]]
    shop.broker.sleep(2 * shop.broker.core.settings.producer_id_expiration_ms)
    assert log.state.waiting == {}
