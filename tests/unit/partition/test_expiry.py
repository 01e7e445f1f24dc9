from fencepost.partition.expiry import ExpiredProducers, apply_expired_producers, decide_expired_producers
from tests.unit.partition.driver import NOW_MS, PartitionDriver, data_header

DAY_MS = 86_400_000


def expire(partition: PartitionDriver, *, now_ms: int) -> ExpiredProducers:
    expired = decide_expired_producers(partition.state, now_ms=now_ms, expiration_ms=DAY_MS)
    apply_expired_producers(partition.state, expired)
    return expired


def test_a_producer_expires_when_its_newest_timestamp_is_old_enough() -> None:
    partition = PartitionDriver()
    partition.send(1, 0, 0)
    header = data_header(producer_id=2, producer_epoch=0, base_sequence=0, timestamp_ms=NOW_MS + 1)
    partition.produce(header)
    assert expire(partition, now_ms=NOW_MS + DAY_MS - 1).producer_ids == []
    assert expire(partition, now_ms=NOW_MS + DAY_MS).producer_ids == [1]
    assert list(partition.state.producers) == [2]


def test_a_producer_with_an_open_transaction_never_expires() -> None:
    partition = PartitionDriver()
    partition.send_transactional(1, 0, 0)
    assert expire(partition, now_ms=NOW_MS + 1000 * DAY_MS).producer_ids == []
    partition.end(1, 1, is_commit=True)
    assert expire(partition, now_ms=NOW_MS + 1000 * DAY_MS).producer_ids == [1]


def test_a_guard_that_nothing_followed_expires() -> None:
    partition = PartitionDriver()
    partition.verify(1, 0, 0)
    assert expire(partition, now_ms=NOW_MS + DAY_MS - 1).guard_producer_ids == []
    assert expire(partition, now_ms=NOW_MS + DAY_MS).guard_producer_ids == [1]
    assert partition.state.guards == {}


def test_a_clock_that_steps_back_expires_nobody() -> None:
    partition = PartitionDriver()
    partition.send(1, 0, 0)
    partition.verify(2, 0, 0)
    assert expire(partition, now_ms=NOW_MS - 3_600_000) == ExpiredProducers([], [])
