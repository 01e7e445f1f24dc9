"""Produce and fetch requests, written by hand so that a test says only what it is about."""

import time
from collections.abc import Iterable
from typing import Any

from fencepost.records.builder import build_batch
from fencepost.records.header import read_header
from fencepost.records.reader import read_records
from fencepost.records.record import Record
from fencepost.types import Buffer
from fencepost.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.behaviour.peer import Client

PRODUCE_V1, PRODUCE_V2 = 11, 12
FETCH_BY_NAME = 12
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
TIMESTAMP_MS = int(time.time() * 1000)
"""Not far from a marker's, or Kafka rolls a segment between the two and a fetch ends there."""


def batch_of(*values: bytes, timestamp_ms: int = TIMESTAMP_MS, **header: Any) -> bytes:
    return build_batch([Record(0, timestamp_ms, None, value, ()) for value in values], **header)


def produce_request(
    topic: str, records: Buffer | None, *, partition: int = 0, transactional_id: str | None = None, acks: int = -1
) -> ProduceRequest:
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(partition, records)])
    return ProduceRequest(transactional_id=transactional_id, acks=acks, timeout_ms=10_000, topic_data=[data])


def produce(
    client: Client,
    topic: str,
    records: Buffer | None,
    *,
    version: int = PRODUCE_V1,
    partition: int = 0,
    transactional_id: str | None = None,
    acks: int = -1,
) -> Any:
    """The answer for the one partition."""
    request = produce_request(topic, records, partition=partition, transactional_id=transactional_id, acks=acks)
    return client.put(request, version).responses[0].partition_responses[0]


def fetch_request(topic: str, *, offset: int = 0, partition: int = 0, **fields: Any) -> FetchRequest:
    partition_max_bytes = fields.pop("partition_max_bytes", 1 << 20)
    wanted = FetchPartition(partition, fetch_offset=offset, partition_max_bytes=partition_max_bytes)
    defaults = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 24}
    return FetchRequest(topics=[FetchTopic(topic=topic, partitions=[wanted])], **(defaults | fields))


def fetch(client: Client, topic: str, **fields: Any) -> Any:
    """The answer for the one partition."""
    version = fields.pop("version", FETCH_BY_NAME)
    return client.put(fetch_request(topic, **fields), version).responses[0].partitions[0]


def batches_in(partition: Any) -> list[bytes]:
    data = b"".join(bytes(piece) for piece in partition.records or [])
    batches, at = [], 0
    while at + 61 <= len(data) and at + read_header(data, at).size_bytes <= len(data):
        end = at + read_header(data, at).size_bytes
        batches.append(data[at:end])
        at = end
    return batches


def values_in(partition: Any) -> list[bytes | None]:
    """The values a consumer would show, before it drops what was aborted; markers are never shown."""
    return [record.value for batch in _data_batches(batches_in(partition)) for record in read_records(batch)]


def committed_values(client: Client, topic: str, *, partition: int = 0) -> list[bytes | None]:
    """What a read_committed consumer shows: it drops the aborted transactions that the answer names."""
    answer = fetch(client, topic, partition=partition, isolation_level=READ_COMMITTED)
    waiting = sorted(answer.aborted_transactions or [], key=lambda aborted: aborted.first_offset)
    dropping: set[int] = set()
    values: list[bytes | None] = []
    for batch in batches_in(answer):
        header = read_header(batch)
        while waiting and waiting[0].first_offset <= header.last_offset:
            dropping.add(waiting.pop(0).producer_id)
        if header.is_control:
            dropping.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in dropping):
            values += [record.value for record in read_records(batch)]
    return values


def _data_batches(batches: Iterable[bytes]) -> list[bytes]:
    return [batch for batch in batches if not read_header(batch).is_control]
