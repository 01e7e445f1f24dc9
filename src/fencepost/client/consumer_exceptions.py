# ruff: noqa: N818 - the classes carry Kafka's names
"""What only consumers raise. They name the partition and the offset, because `seek` is what usually helps."""

from fencepost.client.exceptions import FatalError, GroupFenced
from fencepost.types import TopicPartition


class PartitionProblem(FatalError):
    """Reading cannot go on here; other partitions, and this one after a `seek`, can."""

    def __init__(self, topic_partition: TopicPartition, offset: int | None, message: str) -> None:
        where = f"{topic_partition}" if offset is None else f"{topic_partition} at offset {offset}"
        super().__init__(f"{where}: {message}")
        self.topic_partition = topic_partition
        self.offset = offset


class OffsetOutOfRange(PartitionProblem):
    """The position is outside the partition, and auto.offset.reset=none forbids to choose another."""


class NoOffsetForPartition(PartitionProblem):
    """There is no committed offset, and auto.offset.reset=none forbids to choose one."""


class CorruptRecord(PartitionProblem):
    """A record batch fails its checksum or cannot be read. Its records were not delivered."""


class RecordDeserialization(PartitionProblem):
    """A deserializer could not read a key or value. The record was not delivered."""


class CommitFailed(GroupFenced):
    """The consumer is not, or no longer, a member of its group: somebody else may own these partitions."""


class RebalanceInProgress(CommitFailed):
    """A rebalance is under way: after the next `poll` the same offsets can be committed, where still assigned."""
