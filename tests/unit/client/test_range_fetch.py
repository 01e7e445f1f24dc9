"""One range of one partition, from a connection that answers always the same: no broker."""

from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from fencepost.client.cluster import Cluster
from fencepost.client.consumer.arrow_range import PartitionRange, RangeFetch, RangeReader
from fencepost.client.consumer.fetch_chunk import FetchChunk
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.exceptions import CorruptRecord
from fencepost.client.net.connection import Connection
from fencepost.types import OffsetRange, TopicPartition
from fencepost.wire.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from tests.unit.client.stored import batch, with_length

WHERE = TopicPartition("t", 0)


class FakeConnection:
    def __init__(self, records: bytes) -> None:
        self._records = records
        self.versions = SimpleNamespace(choose=lambda *_, **__: 17)
        self.sent: list[FetchRequest] = []

    def send(self, request: FetchRequest, **_: Any) -> None:
        self.sent.append(request)

    def receive(self) -> tuple[None, FetchResponse]:
        row = PartitionData(partition_index=0, high_watermark=30, last_stable_offset=30, records=[self._records])
        return None, FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[row])])


def ranged(records: bytes, end: int) -> tuple[RangeFetch, FakeConnection]:
    connection = FakeConnection(records)
    wanted = PartitionRange(WHERE, UUID(int=1), OffsetRange(0, end))
    return RangeFetch(
        cast(Connection, connection), ConsumerSettings(fetch_min_bytes=1000), wanted, leader_epoch=0
    ), connection


def test_what_lies_before_a_batch_with_a_wrong_length_comes_first_and_then_the_error() -> None:
    fetch, connection = ranged(batch(0, 10) + with_length(batch(10, 10), 5), 20)
    chunks = fetch.chunks(0)
    assert next(chunks).next_offset == 10
    with pytest.raises(CorruptRecord, match="t-0 at offset 10"):
        next(chunks)
    assert len(connection.sent) == 1


def test_the_last_bytes_of_a_range_do_not_wait_for_more() -> None:
    fetch, connection = ranged(batch(0, 10), 10)
    assert len(list(fetch.chunks(0))) == 1
    assert [request.min_bytes for request in connection.sent] == [1]


def test_damage_behind_the_end_of_the_range_is_not_the_readers() -> None:
    fetch, _ = ranged(batch(0, 10) + with_length(batch(10, 10), 5), 10)
    assert [chunk.next_offset for chunk in fetch.chunks(0)] == [10]


def test_damage_at_the_very_place_is_raised_at_once() -> None:
    fetch, _ = ranged(with_length(batch(0, 10), 5), 10)
    with pytest.raises(CorruptRecord, match="t-0 at offset 0"):
        next(fetch.chunks(0))


def test_a_batch_that_fails_its_checksum_is_named_by_its_own_offset_behind_the_rows_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flipped = bytearray(batch(10, 10))
    flipped[-1] ^= 1
    chunk = FetchChunk(WHERE, batch(0, 10) + flipped, fetch_offset=0)
    reader = RangeReader(Cluster("127.0.0.1:1", ConsumerSettings()), ConsumerSettings())
    monkeypatch.setattr(reader, "_chunks", lambda _: iter([chunk]))
    found = reader.read(PartitionRange(WHERE, UUID(int=1), OffsetRange(0, 20)), include_headers=False)
    assert next(found).column("offset").to_pylist() == list(range(10))
    with pytest.raises(CorruptRecord, match="t-0 at offset 10"):
        next(found)
    reader.close()
