"""Two instances of one transactional id, and packets that come too late to belong to anybody."""

from typing import Any

import pytest

from fencepost.errors import ErrorCode
from fencepost.types import ProducerIdentity
from fencepost.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.scenarios.conftest import OpenShop
from tests.scenarios.shop import TOPIC, Producer, Shop

FENCED = ErrorCode.PRODUCER_FENCED
WRONG_EPOCH = ErrorCode.INVALID_PRODUCER_EPOCH
BUSY = ErrorCode.CONCURRENT_TRANSACTIONS


def bumped(identity: ProducerIdentity, by: int = 1) -> ProducerIdentity:
    return ProducerIdentity(identity.producer_id, identity.producer_epoch + by)


def write_marker(shop: Shop, identity: ProducerIdentity, **more: int | bool) -> int:
    """WriteTxnMarkers v2 on partition 0, as another broker or an administrator sends it."""
    shop.has_foreign_markers = True
    fields: dict[str, Any] = {
        "coordinator_epoch": shop.broker.core.state.catalogue.broker_epoch,
        "transaction_result": True,
        **more,
    }
    marker = WritableTxnMarker(*identity, topics=[WritableTxnMarkerTopic(TOPIC, [0])], **fields)
    (result,) = shop.broker.ask(WriteTxnMarkersRequest([marker]), 2).markers
    return int(result.topics[0].partitions[0].error_code)


@pytest.mark.parametrize("level", ["1", "2"])
def test_a_second_instance_aborts_what_the_first_left_open_and_fences_it(
    open_shop: OpenShop, flow: int, level: str
) -> None:
    """Scenario 22."""
    shop = open_shop(transaction_version=level)
    first = shop.producer(flow=flow)
    first.send(b"zombie")
    assert shop.init(connection=2).error_code == BUSY
    second = shop.init(connection=2)
    assert (second.producer_id, second.producer_epoch) == bumped(first.identity, by=2)
    assert first.write(b"late", sequence=1).error_code == WRONG_EPOCH
    assert first.commit().error_code == FENCED
    assert first.add(1) == FENCED
    assert shop.init(presented=first.identity).error_code == FENCED
    assert (shop.committed(), shop.written()) == ([], [b"zombie"])


@pytest.mark.parametrize("is_restarted", [False, True])
def test_an_init_producer_id_whose_answer_was_lost_gets_the_same_answer(shop: Shop, is_restarted: bool) -> None:
    """Scenario 23. Kafka forgets it with its coordinator."""
    owner = shop.producer().identity
    for _ in range(3):
        again = shop.init(presented=owner)
        assert (again.error_code, again.producer_id, again.producer_epoch) == (0, *bumped(owner))
        if is_restarted:
            shop.kill()


def test_a_stale_init_producer_id_leaves_the_newer_instance_alone(shop: Shop, flow: int) -> None:
    """Scenario 24. Kafka aborts the newer one's transaction before it fences the stale one."""
    stale = shop.producer().identity
    for _ in range(2):
        shop.producer()
    newer = shop.producer(flow=flow)
    newer.send(b"a")
    assert bumped(stale, by=3) == newer.identity
    assert shop.init(presented=stale).error_code == FENCED
    assert shop.state() == "Ongoing"
    assert newer.commit().error_code == ErrorCode.NONE
    assert shop.committed() == [b"a"]


def test_a_late_batch_after_its_marker_opens_no_transaction(shop: Shop, flow: int) -> None:
    """Scenario 25."""
    producer = shop.producer(flow=flow)
    identity = producer.identity
    producer.send(b"a")
    producer.commit()
    for version in (3, 10, 11) if flow == 1 else (12, 13):
        late = produce_late(producer, identity, version)
        classic = ErrorCode.TRANSACTION_ABORTABLE if version == 11 else ErrorCode.INVALID_TXN_STATE
        assert late == (classic if flow == 1 else WRONG_EPOCH)
    assert shop.written() == [b"a"]
    assert shop.last_stable_offset() == shop.high_watermark() == 2


def produce_late(producer: Producer, identity: ProducerIdentity, version: int) -> int:
    if version < 13:
        return int(producer.write(b"late", sequence=1, identity=identity, version=version).error_code)
    sent = producer.start_writing(b"late", sequence=1, identity=identity, version=12)
    request = sent.call.request
    request.topic_data[0].topic_id = producer.shop.broker.topic_id(TOPIC)
    answer = producer.shop.broker.ask(request, version).responses[0].partition_responses[0]
    return int(answer.error_code)


def test_a_late_batch_during_the_next_transaction_is_refused_where_transactions_have_their_own_epochs(
    shop: Shop,
) -> None:
    """Scenario 26."""
    producer = shop.producer()
    before = producer.identity
    producer.send(b"a")
    producer.commit()
    producer.send(b"b")
    for sequence in (0, 1):
        assert producer.write(b"late", sequence=sequence, identity=before).error_code == WRONG_EPOCH
    producer.commit()
    assert shop.committed() == [b"a", b"b"]


def test_a_late_batch_during_the_next_classic_transaction_joins_it_only_as_exactly_the_next_one(shop: Shop) -> None:
    """Scenario 26: the weakness of the classic flow, which has one epoch for both transactions. Kafka has it too."""
    producer = shop.producer(flow=1)
    producer.send(b"a")
    producer.commit()
    producer.send(b"b")
    duplicate = producer.write(b"a", sequence=0)
    assert (duplicate.error_code, duplicate.base_offset) == (ErrorCode.NONE, 0)
    assert producer.write(b"late", sequence=5).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producer.write(b"late", sequence=2).error_code == ErrorCode.NONE
    producer.commit()
    assert shop.committed() == [b"a", b"b", b"late"]


def test_a_late_marker_does_not_end_the_next_transaction_of_another_epoch(shop: Shop) -> None:
    """Scenario 27."""
    producer = shop.producer()
    producer.send(b"a")
    producer.commit()
    producer.send(b"b")
    assert write_marker(shop, producer.identity, transaction_version=2) == WRONG_EPOCH
    assert shop.last_stable_offset() == 2
    producer.commit()
    assert shop.committed() == [b"a", b"b"]


def test_a_late_marker_ends_the_next_classic_transaction_on_its_partition(shop: Shop) -> None:
    """Scenario 27: the weakness of the classic flow. No marker of ours is ever late: only an administrator can do
    this."""
    producer = shop.producer(flow=1)
    producer.send(b"a")
    producer.commit()
    producer.send(b"b")
    assert write_marker(shop, producer.identity, transaction_version=0) == ErrorCode.NONE
    assert (shop.state(), shop.committed()) == ("Ongoing", [b"a", b"b"])
    producer.commit()


def test_a_marker_of_an_older_coordinator_is_refused_and_not_written(shop: Shop) -> None:
    """Scenario 52. Every start of the broker is a new coordinator epoch."""
    old_epoch = shop.broker.core.state.catalogue.broker_epoch
    shop.kill()
    producer = shop.producer(flow=1)
    producer.send(b"a")
    producer.commit()
    producer.send(b"b")
    refused = write_marker(shop, producer.identity, coordinator_epoch=old_epoch)
    assert refused == ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert shop.markers() == [True]
    assert shop.last_stable_offset() == 2
