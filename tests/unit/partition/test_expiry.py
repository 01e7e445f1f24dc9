from fencepost.partition.apply import expire_producers, resume_producers
from tests.unit.partition.driver import NOW_MS, PartitionDriver, data_header

DAY_MS = 86_400_000


def expire(partition: PartitionDriver, *, now_ms: int) -> list[int]:
    return expire_producers(partition.state, now_ms=now_ms, expiration_ms=DAY_MS)


def test_a_producer_expires_when_nothing_came_from_it_for_long_enough() -> None:
    partition = PartitionDriver()
    partition.send(1, 0, 0)
    partition.send(2, 0, 0)
    assert expire(partition, now_ms=NOW_MS) == []
    partition.send(2, 0, 1)
    assert expire(partition, now_ms=NOW_MS + DAY_MS - 1) == []
    assert expire(partition, now_ms=NOW_MS + DAY_MS) == [1]
    assert list(partition.state.producers) == [2]


def test_timestamps_of_records_make_nobody_old() -> None:
    partition = PartitionDriver()
    partition.produce(data_header(producer_id=1, producer_epoch=0, base_sequence=0, timestamp_ms=0))
    assert expire(partition, now_ms=NOW_MS) == []
    assert expire(partition, now_ms=NOW_MS + DAY_MS - 1) == []


def test_after_a_restart_the_newest_timestamp_says_how_long_a_producer_has_been_silent() -> None:
    partition = PartitionDriver()
    partition.send(1, 0, 0)
    resume_producers(partition.state, wall_ms=NOW_MS + DAY_MS, monotonic_ms=50)
    assert expire(partition, now_ms=49) == []
    assert expire(partition, now_ms=50) == [1]


def test_a_producer_with_an_open_transaction_never_expires() -> None:
    partition = PartitionDriver()
    partition.send_transactional(1, 0, 0)
    assert expire(partition, now_ms=NOW_MS + 1000 * DAY_MS) == []
    partition.end(1, 1, is_commit=True)
    assert expire(partition, now_ms=NOW_MS + 1000 * DAY_MS) == []
    assert expire(partition, now_ms=NOW_MS + 1001 * DAY_MS) == [1]
