"""The client: producer, consumer, and Arrow in and out. It works against any Kafka cluster, ours or Apache's.

Names are loaded when they are first used, so that importing this room costs nothing; Arrow is loaded by what needs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fencepost.client.admin.admin import Admin
    from fencepost.client.consumer.arrow_reading import read_arrow
    from fencepost.client.consumer.consumer import Consumer
    from fencepost.client.consumer.record import ConsumerRecord
    from fencepost.client.offsets import OffsetAndTimestamp
    from fencepost.client.producer.delivery import RecordFuture, TableFuture
    from fencepost.client.producer.pinned import PinnedProducers
    from fencepost.client.producer.producer import Producer
    from fencepost.client.values import ConsumerGroupMetadata, OffsetAndMetadata, RecordMetadata
    from fencepost.types import TopicPartition

__all__ = [
    "Admin",
    "Consumer",
    "ConsumerGroupMetadata",
    "ConsumerRecord",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "PinnedProducers",
    "Producer",
    "RecordFuture",
    "RecordMetadata",
    "TableFuture",
    "TopicPartition",
    "read_arrow",
]

_HOMES = {
    "Admin": "fencepost.client.admin.admin",
    "Consumer": "fencepost.client.consumer.consumer",
    "ConsumerGroupMetadata": "fencepost.client.values",
    "ConsumerRecord": "fencepost.client.consumer.record",
    "OffsetAndMetadata": "fencepost.client.values",
    "OffsetAndTimestamp": "fencepost.client.offsets",
    "PinnedProducers": "fencepost.client.producer.pinned",
    "Producer": "fencepost.client.producer.producer",
    "RecordFuture": "fencepost.client.producer.delivery",
    "RecordMetadata": "fencepost.client.values",
    "TableFuture": "fencepost.client.producer.delivery",
    "TopicPartition": "fencepost.types",
    "read_arrow": "fencepost.client.consumer.arrow_reading",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fencepost.client' has no attribute '{name}'")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
