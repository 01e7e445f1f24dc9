"""Values that producers and consumers share."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from fencepost.types import NO_IDENTITY as NO_IDENTITY
from fencepost.types import NO_OFFSET, NO_TIMESTAMP, TopicPartition
from fencepost.types import ProducerIdentity as ProducerIdentity

NO_GENERATION = -1
NO_MEMBER_ID = ""
NO_LEADER_EPOCH = -1


class RecordMetadata(NamedTuple):
    """Where a record went. The offset is -1 with acks=0: no broker said it."""

    topic: str
    partition: int
    offset: int = NO_OFFSET
    timestamp_ms: int = NO_TIMESTAMP

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)


class OffsetAndMetadata(NamedTuple):
    """The offset of the next record to read, and a text beside it."""

    offset: int
    metadata: str = ""
    leader_epoch: int = NO_LEADER_EPOCH


class ConsumerGroupMetadata(NamedTuple):
    """Who commits offsets. A member that says who it is can be refused once it was replaced (KIP-447)."""

    group_id: str
    generation_id: int = NO_GENERATION
    member_id: str = NO_MEMBER_ID
    group_instance_id: str | None = None


Offsets = Mapping[TopicPartition, OffsetAndMetadata]
AnyOffsets = (
    Mapping[TopicPartition, OffsetAndMetadata]
    | Mapping[TopicPartition, int]
    | Mapping[tuple[str, int], OffsetAndMetadata]
    | Mapping[tuple[str, int], int]
)


class OffsetSource(Protocol):
    """What a transaction needs of the consumer whose offsets it commits."""

    @property
    def commits_automatically(self) -> bool:
        """Whether offsets are committed beside the transaction, which would break it."""

    @property
    def taken_away_count(self) -> int:
        """How many partitions have been taken away after records of them were handed out."""

    def group_metadata(self) -> ConsumerGroupMetadata: ...

    def consumed_offsets(self) -> Offsets:
        """For every assigned partition that records were handed out of: the offset after the last of them."""

    def seek_to_committed(self) -> None:
        """Go back to the committed offsets, so that what an aborted transaction read is read again."""


def normalized_offsets(offsets: AnyOffsets) -> Offsets:
    """(topic, partition) and plain numbers are as good as `TopicPartition` and `OffsetAndMetadata`."""
    return {
        TopicPartition(*key): offset if isinstance(offset, OffsetAndMetadata) else OffsetAndMetadata(offset)
        for key, offset in offsets.items()
    }


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """The partitions' numbers by topic, as most requests have them."""
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return topics
