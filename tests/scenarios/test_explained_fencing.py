"""A fenced producer is told who fenced it, when, through which request, from which epoch to which; so is the log."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from fencepost.errors import ErrorCode
from fencepost.transactions.fencing_journal import format_time
from fencepost.types import ProducerIdentity
from tests.scenarios.conftest import OpenShop
from tests.scenarios.shop import Producer, Shop
from tests.unit.broker.builders import HOST

WRONG_EPOCH = ErrorCode.INVALID_PRODUCER_EPOCH
FENCED = ErrorCode.PRODUCER_FENCED
TAKE_OVER: dict[str, Any] = {"client_id": "till-2", "connection": 2}
COME_BACK: dict[str, Callable[[Shop], None]] = {
    "running": lambda shop: None,
    "stopped": Shop.restart,
    "killed": Shop.kill,
}


@pytest.fixture(params=COME_BACK)
def zombie(request: pytest.FixtureRequest, shop: Shop, flow: int) -> Producer:
    """The older of two instances: its transaction was aborted by the other one, 5 s ago, perhaps before a restart."""
    first = shop.producer(flow=flow)
    first.send(b"zombie")
    shop.broker.sleep(5_000)
    assert shop.init(**TAKE_OVER).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert shop.init(**TAKE_OVER).error_code == ErrorCode.NONE
    COME_BACK[request.param](shop)
    return first


def explanation(producer: Producer) -> str:
    """What names the culprit: request, client id, address, time, from which epoch to which."""
    producer_id, producer_epoch = producer.identity
    fenced_at = format_time(producer.shop.broker.now.wall_ms)
    return (
        f"InitProducerId by client 'till-2' from {HOST}:50002 at {fenced_at} moved it from producer id {producer_id} "
        f"epoch {producer_epoch} to producer id {producer_id} epoch {producer_epoch + 1}"
    )


def test_a_refused_produce_carries_the_explanation_on_every_partition(zombie: Producer) -> None:
    """Partition 0 has the zombie's data and sees by itself that the epoch is over; partition 1 asks the coordinator."""
    for partition, sequence in ((0, 1), (1, 0)):
        refused = zombie.write(b"late", partition=partition, sequence=sequence)
        assert refused.error_code == WRONG_EPOCH
        assert explanation(zombie) in refused.error_message


def test_the_explanation_is_not_pushed_out_by_what_the_successor_does(zombie: Producer) -> None:
    """With an epoch per transaction every end is a change of the identity; a zombie may sleep through many."""
    shop = zombie.shop
    fenced = explanation(zombie)
    described = shop.described()
    identity = ProducerIdentity(described.producer_id, described.producer_epoch)
    successor = Producer(shop, "shop", identity, flow=2)
    for _ in range(30):
        successor.send(b"x", partition=2)
        successor.commit()
    for come_back in COME_BACK.values():
        assert fenced in zombie.write(b"late", sequence=1).error_message
        come_back(shop)


def test_requests_without_room_for_a_message_have_it_in_the_log(
    zombie: Producer, caplog: pytest.LogCaptureFixture
) -> None:
    shop = zombie.shop
    requests: dict[str, Callable[[], int]] = {
        "EndTxn": lambda: zombie.commit().error_code,
        "AddPartitionsToTxn": lambda: zombie.add(2),
        "InitProducerId": lambda: shop.init(presented=zombie.identity).error_code,
        "Produce": lambda: zombie.write(b"late", sequence=1).error_code,
    }
    for name, refused in requests.items():
        with caplog.at_level(logging.INFO, "fencepost.broker"):
            caplog.clear()
            assert refused() in (FENCED, WRONG_EPOCH)
        assert explanation(zombie) in caplog.text, name
        assert "transactional id 'shop'" in caplog.text


def test_offsets_of_a_fenced_producer_are_refused_with_the_explanation_in_the_log(
    zombie: Producer, caplog: pytest.LogCaptureFixture
) -> None:
    zombie.flow = 2
    with caplog.at_level(logging.INFO, "fencepost.broker"):
        assert zombie.send_offset(7) == WRONG_EPOCH
    assert explanation(zombie) in caplog.text


def test_a_producer_that_timed_out_is_told_that_the_coordinator_did_it(shop: Shop, flow: int) -> None:
    producer = shop.producer(flow=flow)
    producer.send(b"a")
    shop.time_out()
    aborted_at = format_time(shop.broker.now.wall_ms)
    for _ in range(2):
        refused = producer.write(b"late", sequence=1)
        assert refused.error_code == WRONG_EPOCH
        assert f"transaction timeout of 60000 ms by the coordinator at {aborted_at}" in refused.error_message
        shop.restart()


def test_a_writer_that_shares_the_epoch_is_told_who_ended_the_transaction(shop: Shop) -> None:
    writer = shop.producer()
    writer.send(b"a")
    shop.end(writer.identity, client_id="driver", connection=3)
    refused = writer.write(b"late", sequence=1)
    assert refused.error_code == WRONG_EPOCH
    assert f"EndTxn(commit) by client 'driver' from {HOST}:50003" in refused.error_message


def test_the_explanation_needs_no_verification(open_shop: OpenShop) -> None:
    """With verification off a batch of the classic flow goes straight to the partition."""
    shop = open_shop(transaction_partition_verification_enable="false")
    zombie = shop.producer(flow=1)
    zombie.send(b"zombie")
    for _ in range(2):
        shop.init(**TAKE_OVER)
    refused = zombie.write(b"late", sequence=1)
    assert refused.error_code == WRONG_EPOCH
    assert "InitProducerId by client 'till-2'" in refused.error_message


def test_an_idempotent_producer_without_a_transactional_id_is_told_what_the_partition_knows(shop: Shop) -> None:
    for epoch in (3, 2):
        answer = shop.broker.produce("orders", b"x", producer_id=900, producer_epoch=epoch, base_sequence=0)
    assert answer.error_code == WRONG_EPOCH
    assert "producer 900 has epoch 2, the partition has seen 3" in answer.error_message
