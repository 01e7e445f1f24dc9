"""A read_committed consumer that speaks Fetch: it asks, leaves out what the list of aborted transactions says, goes on.

The filter is the one of Kafka's own clients. State lives for one answer, as theirs does.
"""

from typing import Any

from fencepost.records.control import read_marker
from fencepost.records.header import read_header
from fencepost.records.reader import read_records
from fencepost.records.record import Record
from fencepost.types import TopicPartition
from fencepost.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.unit.broker.builders import Broker, batches_in

READ_COMMITTED = 1
FETCH_VERSION = 12


def consume(
    broker: Broker, topic_partition: TopicPartition, start_offset: int, fetch_bytes: int = 1 << 20
) -> list[Record]:
    """Every record that is delivered from `start_offset` on."""
    delivered: list[Record] = []
    position = start_offset
    while True:
        answer = fetch(broker, topic_partition, position, fetch_bytes)
        assert answer.error_code == 0, answer
        batches = batches_in(answer.records)
        if not batches:
            return delivered
        committed = [record for batch in without_aborted(answer, batches) for record in read_records(batch)]
        delivered += [record for record in committed if record.offset >= position]
        position = read_header(batches[-1]).last_offset + 1


def consumed_offsets(
    broker: Broker, topic_partition: TopicPartition, start_offset: int, fetch_bytes: int = 1 << 20
) -> list[int]:
    return [record.offset for record in consume(broker, topic_partition, start_offset, fetch_bytes)]


def fetch(broker: Broker, topic_partition: TopicPartition, offset: int, fetch_bytes: int) -> Any:
    topic, partition = topic_partition
    wanted = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=fetch_bytes)
    request = FetchRequest(
        max_wait_ms=0,
        isolation_level=READ_COMMITTED,
        session_epoch=-1,
        topics=[FetchTopic(topic=topic, partitions=[wanted])],
    )
    return broker.ask(request, FETCH_VERSION).responses[0].partitions[0]


def without_aborted(answer: Any, batches: Any) -> list[bytes]:
    waiting = sorted((each.first_offset, each.producer_id) for each in answer.aborted_transactions)
    aborting: set[int] = set()
    kept = []
    for batch in batches:
        header = read_header(batch)
        while waiting and waiting[0][0] <= header.last_offset:
            aborting.add(waiting.pop(0)[1])
        if header.is_control:
            marker = read_marker(batch)
            if marker is not None and not marker.is_commit:
                aborting.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborting):
            kept.append(batch)
    return kept
