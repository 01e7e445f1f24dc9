"""What the driver asks of the cluster: which partitions are there, where they begin and end, what was written when.

Every question is tried again while trouble passes, until `default.api.timeout.ms`. With `read_committed` a partition
ends at its last stable offset, so that no micro-batch reaches into an open transaction. No topic is ever created.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from fencepost.client.cluster import Cluster
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.error_table import error_of
from fencepost.client.net.metadata import ClusterMetadata
from fencepost.client.offsets import list_offsets
from fencepost.client.settings import client_settings
from fencepost.client.time_limits import Deadline, retry
from fencepost.errors import ErrorCode, FencepostError
from fencepost.spark.offsets import SourceOffsets
from fencepost.spark.options import KafkaOptions
from fencepost.spark.source.choices import EARLIEST, LATEST, TopicChoice
from fencepost.types import NO_OFFSET, TopicPartition

MISSING = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION})


class UnknownTopic(FencepostError):  # noqa: N818 - it names a state of the cluster
    """A topic or partition that is to be read does not exist."""


def open_cluster(kafka: KafkaOptions) -> tuple[Cluster, ConsumerSettings]:
    settings = client_settings(ConsumerSettings, kafka.keywords(), kind="Spark source")
    return Cluster(kafka.bootstrap_servers, settings, allow_auto_topic_creation=False), settings


class SourceCluster:
    def __init__(self, kafka: KafkaOptions, choice: TopicChoice) -> None:
        self._cluster, self._settings = open_cluster(kafka)
        self._choice = choice

    def partitions(self) -> SourceOffsets:
        """The chosen partitions that exist, with ids; the positions are all 0 and mean nothing."""
        metadata = self._metadata()
        topics = {name: topic for name, topic in metadata.topics.items() if not topic.error_code and topic.partitions}
        chosen = [
            topic_partition
            for topic_partition in self._choice.partitions(topics)
            if topic_partition.topic in topics and topic_partition.partition in topics[topic_partition.topic].partitions
        ]
        return SourceOffsets(
            positions=dict.fromkeys(chosen, 0),
            topic_ids={topic_partition.topic: topics[topic_partition.topic].topic_id for topic_partition in chosen},
            cluster_id=metadata.cluster_id,
        )

    def missing(self, wanted: Sequence[TopicPartition]) -> set[TopicPartition]:
        """Those that do not exist, chosen or not: a planned micro-batch may hold a topic that is named no longer."""
        metadata = self._metadata(also={topic_partition.topic for topic_partition in wanted})
        there = {name: topic.partitions for name, topic in metadata.topics.items() if not topic.error_code}
        return {
            topic_partition
            for topic_partition in wanted
            if topic_partition.partition not in there.get(topic_partition.topic, {})
        }

    def check_existence(self, found: SourceOffsets) -> None:
        """Everything that was chosen by name is among `found`."""
        for topic in self._choice.fixed_names or ():
            if topic not in found.topics:
                raise UnknownTopic(
                    f"topic '{topic}' does not exist: create it first (fencepost topics create {topic}), or correct "
                    "the option subscribe or assign"
                )
        for topic_partition in self._choice.assigned or ():
            if topic_partition not in found.positions:
                topic, partition = topic_partition
                raise UnknownTopic(f"topic {topic} has no partition {partition}: correct the option assign")

    def earliest(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return self.offsets_at(dict.fromkeys(partitions, EARLIEST))

    def latest(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return self.offsets_at(dict.fromkeys(partitions, LATEST))

    def offsets_at(self, timestamps_ms: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """The first offset at or after each time, -1 where there is none; EARLIEST and LATEST are times too."""
        if not timestamps_ms:
            return {}
        is_read_committed = self._settings.is_read_committed
        found = list_offsets(self._cluster, timestamps_ms, self._deadline(), is_read_committed=is_read_committed)
        return {
            topic_partition: found[topic_partition].offset if topic_partition in found else NO_OFFSET
            for topic_partition in timestamps_ms
        }

    def close(self) -> None:
        self._cluster.close()

    def _deadline(self) -> Deadline:
        return Deadline(self._settings.default_api_timeout_ms / 1000)

    def _metadata(self, also: Collection[str] = ()) -> ClusterMetadata:
        fixed = self._choice.fixed_names
        names = None if fixed is None else [*fixed, *also]

        def ask() -> ClusterMetadata:
            metadata = self._cluster.refresh(names)
            for name, topic in sorted(metadata.topics.items()):
                # One that neither is there nor certainly is not: its leader is being elected, or we may not read it.
                is_asked_for = self._choice.has_topic(name) or name in also
                if is_asked_for and topic.error_code and topic.error_code not in MISSING:
                    raise error_of(topic.error_code, "Metadata", what=f"topic '{name}'")
            return metadata

        return retry(ask, self._settings, self._deadline(), "metadata of the topics to read")
