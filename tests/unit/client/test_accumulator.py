"""Gathering records into batches: when a batch is full, when it has waited enough, when memory is out."""

import math

from fencepost.client.producer.accumulator import Accumulator, Limits
from fencepost.client.producer.batch import ProducerBatch, record_bytes_max
from fencepost.client.producer.delivery import RecordFuture
from fencepost.client.values import NO_IDENTITY, ProducerIdentity
from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression
from fencepost.records.header import check_crc, read_header
from fencepost.records.reader import read_records
from fencepost.records.record import Record
from fencepost.types import NO_SEQUENCE, TopicPartition

WHERE = TopicPartition("t", 0)


def make(*, batch_bytes: int = 1000, linger_s: float = 5.0, buffer_bytes: int = 100_000) -> Accumulator:
    limits = Limits(batch_bytes=batch_bytes, linger_s=linger_s, buffer_bytes=buffer_bytes, delivery_timeout_s=60.0)
    return Accumulator(limits, is_numbered=False)


def append(accumulator: Accumulator, size_bytes: int = 100, now_s: float = 0.0) -> RecordFuture | None:
    record = Record(value=bytes(size_bytes), timestamp_ms=0)
    return accumulator.append(WHERE, record, record_bytes_max(record.key, record.value, record.headers), now_s)


def test_records_share_a_batch_until_it_is_full() -> None:
    accumulator = make()
    for _ in range(20):
        append(accumulator)
    batches = list(accumulator.incomplete)
    assert len(batches) > 1
    assert all(batch.size_bytes <= 1000 for batch in batches)
    assert [batch.is_closed for batch in batches] == [True] * (len(batches) - 1) + [False]


def test_a_record_that_is_larger_than_a_batch_has_one_of_its_own() -> None:
    accumulator = make(batch_bytes=50)
    append(accumulator, 500), append(accumulator, 500)
    assert [batch.record_count for batch in accumulator.incomplete] == [1, 1]


def test_a_batch_is_ready_when_it_has_lingered_or_somebody_waits() -> None:
    accumulator = make()
    append(accumulator, now_s=10)
    queue = accumulator.queue(WHERE)
    assert not accumulator.is_ready(queue, 14.9)
    assert accumulator.wake_at_s(10) == 15
    assert accumulator.is_ready(queue, 15)
    assert accumulator.wake_at_s(15) == 70, "what could go now waits for something else"
    for waiting in ("flush_count", "blocked_count"):
        setattr(accumulator, waiting, 1)
        assert accumulator.is_ready(queue, 10)
        setattr(accumulator, waiting, 0)
    assert make().wake_at_s(0) == math.inf


def test_memory_is_given_back_when_a_batch_is_settled_even_if_it_shrank() -> None:
    accumulator = make(buffer_bytes=2000)
    while append(accumulator) is not None:
        pass
    assert accumulator.used_bytes <= 2000
    for batch in list(accumulator.incomplete):
        batch.finish(Compression.GZIP)
    for batch in accumulator.drop_waiting():
        accumulator.release(batch)
    assert accumulator.used_bytes == 0
    assert append(accumulator) is not None


def test_a_record_larger_than_all_memory_is_taken_when_there_is_nothing_else() -> None:
    accumulator = make(buffer_bytes=100)
    assert append(accumulator, 500) is not None
    assert append(accumulator, 1) is None


def test_whole_batches_queue_behind_what_waits_and_close_it() -> None:
    accumulator = make()
    append(accumulator)
    accumulator.add_whole(WHERE, bytearray(build_batch([Record(value=b"a", timestamp_ms=1)])), is_sealed=True, now_s=0)
    append(accumulator)
    assert [batch.is_closed for batch in accumulator.queue(WHERE).new] == [True, True, False]


def test_what_waited_too_long_is_dropped() -> None:
    accumulator = make()
    append(accumulator, now_s=0)
    assert accumulator.drop_expired(59) == []
    assert accumulator.drop_expired(60) == list(accumulator.incomplete)


def test_a_finished_batch_is_what_the_plain_builder_makes() -> None:
    records = [
        Record(0, 1_700_000_000_000, b"k", b"v", (("h", b"1"), ("ü", None))),
        Record(1, 1_600_000_000_000, None, b"", ()),
        Record(2, 1_800_000_000_000, b"", None, ()),
    ]
    for codec in Compression:
        batch = ProducerBatch(WHERE, created_at_s=0)
        for record in records:
            batch.append(record)
        batch.finish(codec)
        batch.stamp(ProducerIdentity(7, 3), 11, is_transactional=True)
        assert check_crc(batch.buffer)
        assert read_records(bytes(batch.buffer)) == records
        header = read_header(batch.buffer)
        assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 3, 11)
        assert header.is_transactional
        assert header.max_timestamp == 1_800_000_000_000


def test_compression_that_gains_nothing_is_left_out() -> None:
    batch = ProducerBatch(WHERE, created_at_s=0)
    batch.append(Record(value=b"x", timestamp_ms=0))
    batch.finish(Compression.ZSTD)
    batch.stamp(NO_IDENTITY, NO_SEQUENCE, is_transactional=False)
    assert check_crc(batch.buffer)
    assert read_header(batch.buffer).compression == Compression.NONE


def test_the_size_of_a_record_is_never_underestimated() -> None:
    for headers in ((), (("header", b"value"),), (("ü" * 100, None),) * 3):
        for size_bytes in (0, 1, 100, 70_000):
            batch = ProducerBatch(WHERE, created_at_s=0)
            before_bytes = batch.size_bytes
            record = Record(0, 2**62, bytes(size_bytes), bytes(size_bytes), headers)
            batch.append(record)
            assert batch.size_bytes - before_bytes <= record_bytes_max(record.key, record.value, record.headers)
