"""Batches to a Produce request, over the connection to one broker, and its answer back to batches."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from fencepost.client.net.connection import Connection
from fencepost.client.net.metadata import Node
from fencepost.client.producer.batch import ProducerBatch
from fencepost.errors import ErrorCode
from fencepost.types import NO_OFFSET, NO_TIMESTAMP
from fencepost.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

TOPIC_IDS_SINCE = 13
LAST_VERSION_BY_NAME = 12
CLASSIC_TRANSACTIONS_UNTIL = 11
"""From version 12 on the broker itself adds the partition to the transaction (KIP-890)."""


class BrokerLink:
    """A producer's connection to one broker, with the batches that are on their way over it, in order."""

    def __init__(self, node: Node, connection: Connection) -> None:
        self.node = node
        self.connection = connection
        self._on_wire: deque[Sequence[ProducerBatch]] = deque()
        """The batches of each request that is not answered."""

    @property
    def request_count(self) -> int:
        return len(self._on_wire)

    def send(
        self, request: ProduceRequest, batches: Sequence[ProducerBatch], *, version: int, timeout_s: float
    ) -> None:
        """If this raises, the link is lost and `lose` has the batches."""
        expects_answer = request.acks != 0
        if expects_answer:
            self._on_wire.append(batches)
        self.connection.send(request, version=version, timeout_s=timeout_s, expects_answer=expects_answer)

    def receive(self) -> "list[BatchAnswer]":
        """What has been answered by now."""
        answers: list[BatchAnswer] = []
        for in_flight, response in self.connection.receive_available():
            assert isinstance(in_flight.request, ProduceRequest)
            assert isinstance(response, ProduceResponse)
            answers += read_answer(self._on_wire.popleft(), in_flight.request, response)
        return answers

    def lose(self) -> list[ProducerBatch]:
        """Close the connection; the batches whose fate is unknown, in order."""
        self.connection.close()
        lost = [batch for batches in self._on_wire for batch in batches]
        self._on_wire.clear()
        return lost


class BatchAnswer(NamedTuple):
    batch: ProducerBatch
    error_code: int
    explanation: str | None
    base_offset: int = NO_OFFSET
    append_time_ms: int = NO_TIMESTAMP


def build_request(
    batches: Sequence[ProducerBatch],
    *,
    transactional_id: str | None,
    acks: int,
    timeout_ms: int,
    topic_ids: dict[str, UUID],
) -> ProduceRequest:
    """At most one batch for each partition."""
    topics = {name: TopicProduceData(topic_id=topic_id, name=name) for name, topic_id in topic_ids.items()}
    for batch in batches:
        topic, partition = batch.topic_partition
        topics[topic].partition_data.append(PartitionProduceData(index=partition, records=batch.buffer))
    return ProduceRequest(
        transactional_id=transactional_id, acks=acks, timeout_ms=timeout_ms, topic_data=list(topics.values())
    )


def read_answer(
    batches: Sequence[ProducerBatch], request: ProduceRequest, response: ProduceResponse
) -> list[BatchAnswer]:
    """What the broker said of each batch. One that it says nothing of is UNKNOWN_SERVER_ERROR."""
    topic_names = {topic.topic_id: topic.name for topic in request.topic_data}
    answers = {
        (topic.name or topic_names.get(topic.topic_id, ""), partition.index): partition
        for topic in response.responses
        for partition in topic.partition_responses
    }
    return [_answer(batch, answers.get(batch.topic_partition)) for batch in batches]


def _answer(batch: ProducerBatch, said: PartitionProduceResponse | None) -> BatchAnswer:
    if said is None:
        return BatchAnswer(batch, ErrorCode.UNKNOWN_SERVER_ERROR, "the broker's answer leaves this partition out")
    if said.error_code == ErrorCode.NONE:
        return BatchAnswer(batch, ErrorCode.NONE, None, said.base_offset, said.log_append_time_ms)
    details = [f"record {row.batch_index}: {row.batch_index_error_message or 'refused'}" for row in said.record_errors]
    explanation = "; ".join(text for text in (said.error_message, *details) if text)
    return BatchAnswer(batch, said.error_code, explanation or None)
