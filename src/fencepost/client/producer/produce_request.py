"""Batches to a Produce request, and its answer back to batches. Pure."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

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
    topics: dict[str, TopicProduceData] = {}
    for batch in batches:
        name = batch.topic_partition.topic
        if name not in topics:
            topics[name] = TopicProduceData(topic_id=topic_ids[name], name=name)
        data = PartitionProduceData(index=batch.topic_partition.partition, records=batch.buffer)
        topics[name].partition_data.append(data)
    return ProduceRequest(
        transactional_id=transactional_id, acks=acks, timeout_ms=timeout_ms, topic_data=list(topics.values())
    )


def read_answer(
    batches: Sequence[ProducerBatch], response: ProduceResponse, *, topic_names: dict[UUID, str]
) -> list[BatchAnswer]:
    """What the broker said of each batch. One that it says nothing of is UNKNOWN_SERVER_ERROR."""
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
