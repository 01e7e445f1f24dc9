"""A record as a consumer hands it out, and how its key and value become what the program works with."""

from collections.abc import Callable
from typing import Any, NamedTuple

from fencepost.client.exceptions import RecordDeserialization
from fencepost.client.serializers import Deserializer
from fencepost.records.record import Headers, Record
from fencepost.types import TopicPartition


class ConsumerRecord(NamedTuple):
    topic: str
    partition: int
    offset: int
    key: Any
    value: Any
    headers: Headers
    timestamp_ms: int

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)


MakeRecord = Callable[[TopicPartition, Record], ConsumerRecord]


def record_maker(key_deserializer: Deserializer | None, value_deserializer: Deserializer | None) -> MakeRecord:
    """What turns stored records into consumer records. A record that cannot be read is named."""
    if key_deserializer is None and value_deserializer is None:
        return _as_stored

    def make(topic_partition: TopicPartition, record: Record) -> ConsumerRecord:
        try:
            key = record.key if key_deserializer is None else key_deserializer(record.key)
            value = record.value if value_deserializer is None else value_deserializer(record.value)
        except Exception as problem:
            message = f"its key or value cannot be deserialized: {problem}; seek past it to go on"
            raise RecordDeserialization(topic_partition, record.offset, message) from problem
        return ConsumerRecord(
            topic_partition.topic,
            topic_partition.partition,
            record.offset,
            key,
            value,
            record.headers,
            record.timestamp_ms,
        )

    return make


def _as_stored(topic_partition: TopicPartition, record: Record) -> ConsumerRecord:
    offset, timestamp_ms, key, value, headers = record
    return ConsumerRecord(topic_partition.topic, topic_partition.partition, offset, key, value, headers, timestamp_ms)
