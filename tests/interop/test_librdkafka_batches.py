"""Our batches against librdkafka's own codecs, both ways, through the mock broker that it carries.

The mock keeps a batch as the producer sent it and serves it as it is, so what librdkafka wrote is read by us from a raw
Fetch, and what we wrote goes in by a raw Produce and is read by librdkafka's consumer with its checksum check on.
"""

import socket
import struct
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression
from fencepost.records.header import check_crc, split_batches
from fencepost.records.reader import read_records
from fencepost.records.record import Record
from fencepost.records.validation import validate_record_set

RECORDS = [
    Record(0, 1_700_000_000_000, b"key", b"value " * 30_000, (("a", b"1"), ("n", None), ("ü", b""))),
    Record(1, 1_700_000_000_001, None, b"x"),
    Record(2, 1_700_000_000_002, b"tombstone", None),
    *(Record(offset, 1_700_000_000_500 + 70 * offset, b"k%d" % offset, bytes(offset)) for offset in range(3, 500)),
]
PRODUCE, FETCH = 0, 1
ANSWER_TIMEOUT_S = 30


class MockBroker:
    """librdkafka's mock broker, and one raw connection to it."""

    def __init__(self) -> None:
        self._owner = Producer({"test.mock.num.brokers": 1, "log_level": 0})
        (broker,) = self._owner.list_topics(timeout=ANSWER_TIMEOUT_S).brokers.values()
        self.bootstrap_servers = f"{broker.host}:{broker.port}"
        self._connection = socket.create_connection((broker.host, broker.port), timeout=ANSWER_TIMEOUT_S)

    def close(self) -> None:
        self._connection.close()

    def produce(self, topic: str, batch: bytes) -> None:
        self._owner.list_topics(topic, timeout=ANSWER_TIMEOUT_S)  # asking for a topic creates it
        body = struct.pack(">hhiI", -1, -1, 1000, 1) + _string(topic) + struct.pack(">Iii", 1, 0, len(batch)) + batch
        answer = self._call(PRODUCE, 3, body)
        (error_code,) = struct.unpack_from(">h", answer, 4 + 2 + len(topic) + 4 + 4)
        assert error_code == 0

    def fetch(self, topic: str) -> bytes:
        """Every batch of the topic. The mock hands out one at a time, and a slow producer makes several of them."""
        batches = b""
        offset = high_watermark = -1
        while offset < high_watermark or not batches:
            high_watermark, piece = self._fetch_from(topic, max(offset, 0))
            batches += piece
            offset = [header.last_offset for header, _ in split_batches(piece)][-1] + 1
        return batches

    def _fetch_from(self, topic: str, offset: int) -> tuple[int, bytes]:
        partition = struct.pack(">Iiqi", 1, 0, offset, 2**24)
        answer = self._call(FETCH, 4, struct.pack(">iiiibI", -1, 1000, 1, 2**24, 0, 1) + _string(topic) + partition)
        position = 4 + 4 + 2 + len(topic) + 4
        _, error_code, high_watermark, _, aborted_count, length = struct.unpack_from(">ihqqii", answer, position)
        assert (error_code, aborted_count) == (0, 0)
        return high_watermark, answer[position + 30 : position + 30 + length]

    def _call(self, api_key: int, version: int, body: bytes) -> bytes:
        request = struct.pack(">hhi", api_key, version, 1) + _string("test") + body
        self._connection.sendall(struct.pack(">i", len(request)) + request)
        (length,) = struct.unpack(">i", self._receive(4))
        return self._receive(length)[4:]

    def _receive(self, size_bytes: int) -> bytes:
        received = b""
        while len(received) < size_bytes:
            piece = self._connection.recv(size_bytes - len(received))
            assert piece, "the mock broker closed the connection"
            received += piece
        return received


def _string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


@pytest.fixture(scope="module")
def broker() -> Iterator[MockBroker]:
    broker = MockBroker()
    yield broker
    broker.close()


@pytest.mark.parametrize("codec", list(Compression))
def test_what_librdkafka_wrote_is_read_by_us(broker: MockBroker, codec: Compression) -> None:
    topic = f"theirs-{codec.name.lower()}"
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "compression.type": codec.name.lower(),
            "linger.ms": 20,
            "batch.num.messages": 200,
            "log_level": 0,
        }
    )
    for record in RECORDS:
        producer.produce(
            topic,
            partition=0,
            key=record.key,
            value=record.value,
            headers=list(record.headers),
            timestamp=record.timestamp_ms,
        )
    assert producer.flush(ANSWER_TIMEOUT_S) == 0
    batches = list(split_batches(broker.fetch(topic)))
    assert all(check_crc(batch) for _, batch in batches)
    assert all(validate_record_set(batch, produce_version=9) is None for _, batch in batches)
    assert {header.compression for header, _ in batches} == {codec}
    assert [record for _, batch in batches for record in read_records(batch)] == RECORDS


@pytest.mark.parametrize("codec", list(Compression))
def test_what_we_wrote_is_read_by_librdkafka(broker: MockBroker, codec: Compression) -> None:
    topic = f"ours-{codec.name.lower()}"
    broker.produce(topic, build_batch(RECORDS, compression=codec))
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "any", "check.crcs": True, "log_level": 0}
    )
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        messages = consumer.consume(len(RECORDS), timeout=ANSWER_TIMEOUT_S)
    finally:
        consumer.close()
    assert [message.error() for message in messages] == [None] * len(RECORDS)
    assert [
        Record(m.offset(), m.timestamp()[1], m.key(), m.value(), tuple(m.headers() or ())) for m in messages
    ] == RECORDS
