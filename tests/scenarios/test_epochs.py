"""The last epochs of a producer id: 32766 is the last that a client holds, 32767 only marks the end."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import Transaction
from fencepost.types import ProducerIdentity
from fencepost.wire.messages.end_txn import EndTxnRequest
from tests.scenarios.conftest import OpenShop
from tests.scenarios.shop import Producer, Shop

LAST_EPOCH = 32766


def at_last_epoch(shop: Shop, *, flow: int = 2) -> Producer:
    """A producer at its last usable epoch, with an open transaction."""
    first = shop.producer().identity
    last = ProducerIdentity(first.producer_id, LAST_EPOCH)
    shop.plant(Transaction("shop", *last, 60_000, TransactionState.EMPTY, shop.broker.now.wall_ms))
    producer = Producer(shop, "shop", last, flow=flow)
    producer.send(b"a")
    producer.send(b"b", partition=1)
    return producer


def marker_identities(shop: Shop) -> list[ProducerIdentity]:
    headers = [entry.header for entry in shop.entries() if entry.marker is not None]
    return [ProducerIdentity(header.producer_id, header.producer_epoch) for header in headers]


@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
def test_an_end_at_the_last_epoch_moves_to_a_fresh_producer_id(shop: Shop, committed: bool) -> None:
    """Scenario 30."""
    producer = at_last_epoch(shop)
    last = producer.identity
    for _ in range(3):
        reply = shop.end(last, committed=committed)
        assert (reply.error_code, reply.producer_epoch) == (ErrorCode.NONE, 0)
        assert reply.producer_id > last.producer_id
        shop.kill()
    assert marker_identities(shop) == [(last.producer_id, 32767)]
    fresh = Producer(shop, "shop", ProducerIdentity(reply.producer_id, 0), flow=2)
    fresh.send(b"next")
    assert fresh.commit().producer_epoch == 1
    assert shop.committed() == [*([b"a"] if committed else []), b"next"]
    assert shop.init(None).producer_id > reply.producer_id


@pytest.mark.parametrize("kept", [1, 2, 3, 4], ids=["PREPARE", "one marker", "all markers", "COMPLETE"])
def test_a_crash_within_an_end_at_the_last_epoch_keeps_the_fresh_producer_id(shop: Shop, kept: int) -> None:
    """Scenario 30."""
    producer = at_last_epoch(shop)
    last, before = producer.identity, shop.last_position
    shop.broker.send(EndTxnRequest("shop", *last, committed=True), 5)
    fresh = shop.broker.core.state.transactions.transactions["shop"].identity
    shop.write_without_answering()
    shop.kill() if kept == 4 else shop.kill_losing(before + kept + 1)
    reply = shop.end(last)
    assert (reply.error_code, reply.producer_id, reply.producer_epoch) == (ErrorCode.NONE, *fresh)
    assert shop.init("another").producer_id > fresh.producer_id
    assert (shop.committed(0), shop.committed(1)) == ([b"a"], [b"b"])


@pytest.mark.parametrize("level", ["1", "2"])
def test_a_timeout_at_the_last_epoch_overflows_nothing(open_shop: OpenShop, flow: int, level: str) -> None:
    """Scenario 31. Under level 1 the id stays at 32767 until somebody initialises it, as in Kafka."""
    shop = open_shop(transaction_version=level)
    producer = at_last_epoch(shop, flow=flow)
    last = producer.identity
    shop.time_out()
    described = shop.described()
    rests_at = (last.producer_id, 32767) if level == "1" else (last.producer_id + 1, 0)
    assert described.transaction_state == "CompleteAbort"
    assert (described.producer_id, described.producer_epoch) == rests_at
    assert marker_identities(shop) == [(last.producer_id, 32767)]
    assert producer.write(b"late", sequence=1).error_code == ErrorCode.INVALID_PRODUCER_EPOCH
    shop.kill()
    reply = shop.init()
    expected = (last.producer_id + 1, 0 if level == "1" else 1)
    assert (reply.error_code, reply.producer_id, reply.producer_epoch) == (ErrorCode.NONE, *expected)


def test_a_classic_repeat_at_the_last_epoch_has_no_mapping(shop: Shop) -> None:
    """Scenario 46 at the overflow."""
    producer = at_last_epoch(shop)
    last = producer.identity
    producer.commit()
    assert shop.end(last, version=4).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
