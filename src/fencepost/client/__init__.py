"""Kafka's producer and consumer in Python, on any Kafka cluster; Arrow tables in and out.

Nothing heavy is loaded until it is used: Arrow by the Arrow calls, compression by the first batch that has some.
"""

from fencepost.client.delivery import RecordFuture, TableFuture
from fencepost.client.producer import Producer
from fencepost.client.values import ConsumerGroupMetadata, OffsetAndMetadata, RecordMetadata
from fencepost.types import TopicPartition

__all__ = [
    "ConsumerGroupMetadata",
    "OffsetAndMetadata",
    "Producer",
    "RecordFuture",
    "RecordMetadata",
    "TableFuture",
    "TopicPartition",
]
