"""What a client knows of the cluster: brokers, topics, leaders. A value; an answer to Metadata makes the next one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition
from fencepost.wire.messages.metadata import MetadataResponse, MetadataResponseTopic
from fencepost.wire.reading import ZERO_UUID

NO_NODE = -1


class Node(NamedTuple):
    node_id: int
    host: str
    port: int

    def __str__(self) -> str:
        return f"broker {self.node_id} at {self.host}:{self.port}" if self.node_id >= 0 else f"{self.host}:{self.port}"


class PartitionMetadata(NamedTuple):
    leader_id: int
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class TopicMetadata:
    name: str
    topic_id: UUID
    partitions: Mapping[int, PartitionMetadata]
    error_code: int = ErrorCode.NONE
    is_internal: bool = False
    available_partitions: list[int] = field(init=False, repr=False, compare=False)
    """Those that have a leader, in order. Every record without a key asks for them."""

    def __post_init__(self) -> None:
        available = (index for index, partition in self.partitions.items() if partition.leader_id != NO_NODE)
        object.__setattr__(self, "available_partitions", sorted(available))

    @property
    def partition_count(self) -> int:
        return len(self.partitions)


@dataclass(frozen=True, slots=True)
class ClusterMetadata:
    cluster_id: str | None = None
    controller_id: int = NO_NODE
    brokers: Mapping[int, Node] = field(default_factory=dict)
    topics: Mapping[str, TopicMetadata] = field(default_factory=dict)

    def leader(self, topic_partition: TopicPartition) -> Node | None:
        """The broker to write to and read from; None if it is not known or there is none at the moment."""
        topic = self.topics.get(topic_partition.topic)
        partition = topic.partitions.get(topic_partition.partition) if topic is not None else None
        return None if partition is None else self.brokers.get(partition.leader_id)

    def topic_id(self, topic: str) -> UUID:
        """The topic's id, or the zero one if the broker is too old to have any."""
        known = self.topics.get(topic)
        return ZERO_UUID if known is None else known.topic_id

    def topic_names(self) -> dict[UUID, str]:
        return {topic.topic_id: name for name, topic in self.topics.items() if topic.topic_id != ZERO_UUID}

    def updated(self, response: MetadataResponse, *, asked: Iterable[str] | None) -> "ClusterMetadata":
        """What is known after this answer. `asked` are the topics that it is about; None means all that there are."""
        topics = {} if asked is None else dict(self.topics)
        for answered in response.topics:
            if answered.name is not None:
                topics[answered.name] = self._updated_topic(answered)
        return ClusterMetadata(
            cluster_id=response.cluster_id,
            controller_id=response.controller_id,
            brokers={row.node_id: Node(row.node_id, row.host, row.port) for row in response.brokers},
            topics=topics,
        )

    def _updated_topic(self, answered: MetadataResponseTopic) -> TopicMetadata:
        assert answered.name is not None
        known = self.topics.get(answered.name)
        partitions = {}
        for row in answered.partitions:
            found = PartitionMetadata(row.leader_id, row.leader_epoch)
            # An answer from a broker that lags behind must not bring a deposed leader back (KIP-320).
            if known is not None and known.topic_id == answered.topic_id:
                before = known.partitions.get(row.partition_index)
                if before is not None and found.leader_epoch < before.leader_epoch:
                    found = before
            partitions[row.partition_index] = found
        return TopicMetadata(
            name=answered.name,
            topic_id=answered.topic_id,
            partitions=partitions,
            error_code=answered.error_code,
            is_internal=answered.is_internal,
        )
