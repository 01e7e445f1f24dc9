"""EndTxn: sent twice, late, after the timeout, from a saved token, in the wrong flow."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.types import ProducerIdentity
from fencepost.wire.messages.end_txn import EndTxnRequest
from tests.scenarios.shop import END_VERSION, Producer, Shop

FENCED = ErrorCode.PRODUCER_FENCED


def opened(shop: Shop, flow: int) -> Producer:
    producer = shop.producer(flow=flow)
    producer.send(b"a")
    producer.send(b"b", partition=1)
    return producer


def test_a_commit_sent_twice_at_once_writes_one_set_of_markers_and_both_are_confirmed(shop: Shop, flow: int) -> None:
    """Scenario 17. The second one finds COMPLETE of the first, and its answer waits for the same sync."""
    producer = opened(shop, flow)
    request = EndTxnRequest("shop", *producer.identity, committed=True)
    sent = [shop.broker.send(request, END_VERSION[flow], connection=each) for each in (2, 3)]
    assert [each.reply for each in sent] == [None, None]
    shop.broker.commit()
    first, second = (shop.ended(each) for each in sent)
    assert first.error_code == second.error_code == ErrorCode.NONE
    assert first == second
    assert shop.markers(0) == shop.markers(1) == [True]


def test_a_commit_that_is_on_its_way_to_the_disk_is_not_overtaken_by_the_timeout(shop: Shop, flow: int) -> None:
    """Scenario 18."""
    producer = opened(shop, flow)
    shop.broker.sleep(10_000)
    sent = shop.broker.send(EndTxnRequest("shop", *producer.identity, committed=True), END_VERSION[flow])
    assert sent.reply is None
    shop.time_out()
    assert shop.ended(sent).error_code == ErrorCode.NONE
    assert shop.state() == "CompleteCommit"
    assert (shop.committed(), shop.markers()) == ([b"a"], [True])


def test_a_commit_after_the_timeout_is_fenced_and_its_records_stay_invisible(shop: Shop, flow: int) -> None:
    """Scenario 19. KAFKA-20785 in both flows: Kafka up to 4.3 says 48 in the second."""
    producer = opened(shop, flow)
    shop.time_out()
    assert producer.commit().error_code == FENCED
    shop.kill()
    assert producer.commit().error_code == FENCED
    assert (shop.committed(0), shop.committed(1)) == ([], [])


def test_an_abort_after_the_timeout_is_confirmed_where_the_epoch_tells(shop: Shop) -> None:
    """Scenario 20."""
    producer = opened(shop, 2)
    identity = producer.identity
    shop.time_out()
    reply = producer.abort()
    expected = ProducerIdentity(identity.producer_id, identity.producer_epoch + 1)
    assert (reply.error_code, reply.producer_id, reply.producer_epoch) == (ErrorCode.NONE, *expected)
    assert shop.markers() == [False]
    producer.send(b"next")
    producer.commit()
    assert shop.committed() == [b"next"]


def test_an_abort_after_the_timeout_is_fenced_in_the_classic_flow(shop: Shop) -> None:
    """Scenario 20."""
    producer = opened(shop, 1)
    shop.time_out()
    assert producer.abort().error_code == FENCED
    assert shop.markers() == [False]


def test_a_batch_after_the_timeout_is_refused_and_holds_nothing_back(shop: Shop, flow: int) -> None:
    """Scenario 21."""
    producer = opened(shop, flow)
    shop.time_out()
    for partition in (0, 2):
        assert producer.write(b"late", partition=partition, sequence=1 - partition // 2).error_code in (
            ErrorCode.INVALID_PRODUCER_EPOCH,
        )
    assert (shop.written(0), shop.written(2)) == ([b"a"], [])
    assert shop.last_stable_offset() == shop.high_watermark() == 2


def test_the_next_transaction_starts_as_soon_as_the_end_is_answered(shop: Shop, flow: int) -> None:
    """Scenario 28. Markers are in the commit group of the end, so there are no slow ones to wait for: even before the
    answer leaves, the next transaction can be written, and it is not mixed with this one."""
    producer = opened(shop, flow)
    end = shop.broker.send(EndTxnRequest("shop", *producer.identity, committed=False), END_VERSION[flow])
    if flow == 2:
        producer.identity = ProducerIdentity(producer.identity.producer_id, producer.identity.producer_epoch + 1)
        producer.next_sequences.clear()
    producer.added.clear()
    producer.send(b"next")
    assert shop.ended(end).error_code == ErrorCode.NONE
    producer.commit()
    assert (shop.committed(0), shop.committed(1)) == ([b"next"], [])


def test_a_partition_that_was_verified_takes_no_batch_once_the_end_is_decided(shop: Shop, flow: int) -> None:
    """Scenario 29. Verification and append are one step here; the marker can only come before both or after both."""
    producer = shop.producer(flow=flow)
    producer.add(0)
    end = shop.broker.send(EndTxnRequest("shop", *producer.identity, committed=False), END_VERSION[flow])
    late = producer.write(b"late", sequence=0)
    expected = {1: ErrorCode.TRANSACTION_ABORTABLE, 2: ErrorCode.INVALID_PRODUCER_EPOCH}
    assert late.error_code == expected[flow]
    assert shop.ended(end).error_code == ErrorCode.NONE
    assert shop.written() == []


def test_a_saved_commit_can_be_repeated_until_the_id_is_used_again(shop: Shop) -> None:
    """Scenario 45."""
    producer = opened(shop, 2)
    saved = producer.identity
    for _ in range(3):
        reply = shop.end(saved)
        assert (reply.error_code, reply.producer_epoch) == (ErrorCode.NONE, saved.producer_epoch + 1)
        shop.kill()
    assert shop.markers() == [True]
    producer.identity = ProducerIdentity(saved.producer_id, saved.producer_epoch + 1)
    producer.next_sequences.clear()
    producer.send(b"next")
    assert shop.end(saved).error_code == FENCED
    assert (shop.state(), shop.committed()) == ("Ongoing", [b"a"])


def test_a_transaction_with_its_own_epoch_can_be_committed_in_the_classic_way(shop: Shop) -> None:
    """Scenario 46."""
    saved = opened(shop, 2).identity
    assert [shop.end(saved, version=4).error_code for _ in range(2)] == [ErrorCode.NONE] * 2
    assert shop.end(saved, version=5).error_code == ErrorCode.INVALID_TXN_STATE
    described = shop.described()
    assert (described.transaction_state, described.producer_epoch) == ("CompleteCommit", saved.producer_epoch)
    assert shop.committed() == [b"a"]


def test_a_classic_repeat_of_a_commit_with_an_epoch_bump_is_fenced(shop: Shop) -> None:
    """Scenario 46."""
    saved = opened(shop, 2).identity
    assert shop.end(saved, version=5).error_code == ErrorCode.NONE
    assert shop.end(saved, version=4).error_code == FENCED


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_classic_commit_one_epoch_later_does_not_pass_for_the_transaction_that_timed_out(
    shop: Shop, is_restarted: bool
) -> None:
    """Scenario 47. Stock Kafka confirms a commit that never happened."""
    producer = opened(shop, 2)
    lost = producer.identity
    shop.time_out()
    recovered = shop.producer(flow=1, presented=lost)
    assert recovered.identity == (lost.producer_id, lost.producer_epoch + 1)
    recovered.send(b"later")
    recovered.commit()
    if is_restarted:
        shop.restart()
    assert shop.end(lost).error_code == FENCED
    assert shop.committed() == [b"later"]


def test_a_late_end_on_an_older_connection_ends_nothing_and_is_not_answered(shop: Shop) -> None:
    """Stock Kafka cannot tell it from one of the open transaction, which has the same epoch."""
    producer = shop.producer(flow=1, connection=2)
    producer.send(b"a")
    late = EndTxnRequest("shop", *producer.identity, committed=True)
    producer.commit()
    producer.add(0, connection=5)
    producer.write(b"b", sequence=1, connection=5)
    sent = shop.broker.send(late, 4, connection=3)
    shop.broker.commit()
    assert shop.broker.is_closed(sent)
    assert (shop.state(), shop.committed(), shop.markers()) == ("Ongoing", [b"a"], [True])
    assert shop.end(producer.identity, version=4, connection=5).error_code == ErrorCode.NONE
    assert shop.committed() == [b"a", b"b"]
