"""Topics and their settings, as calls on a cluster."""

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from fencepost.client.admin.asking import ClusterCalls, check_code, leaders_of, patient
from fencepost.client.cluster import Cluster
from fencepost.client.exceptions import ClientError, UnknownTopicOrPartition
from fencepost.client.net.metadata import Node, TopicMetadata
from fencepost.client.offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, try_list_offsets
from fencepost.client.time_limits import Backoff, Deadline, retry
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition
from fencepost.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from fencepost.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from fencepost.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from fencepost.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from fencepost.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

TOPIC_RESOURCE = 2
BROKER_RESOURCE = 4
TOPIC_OVERRIDE = 1
"""Where a setting comes from: the topic itself. Other sources are the broker's."""
DEFAULT_MAX_MESSAGE_BYTES = 1_048_588
BROKER_CHOOSES = -1
SET, DELETE = 0, 1


class Replicas(NamedTuple):
    leader_id: int
    replica_ids: list[int]
    in_sync_ids: list[int]


class NewTopic(NamedTuple):
    """-1: as many as the broker's own setting says."""

    name: str
    partition_count: int = BROKER_CHOOSES
    replication_factor: int = BROKER_CHOOSES
    settings: Mapping[str, str] = {}


class TopicCalls(ClusterCalls):
    def create_topic(
        self,
        name: str,
        partition_count: int = BROKER_CHOOSES,
        replication_factor: int = BROKER_CHOOSES,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.create_topics([NewTopic(name, partition_count, replication_factor, settings or {})])

    def create_topics(self, topics: Iterable[NewTopic], *, validate_only: bool = False) -> None:
        """All of them, or an error that names the first that was refused; others may exist by then.

        Returns when they can be used.
        """
        wanted = list(topics)
        self._create_topics(wanted, validate_only=validate_only)
        if not validate_only:
            self._await_use({topic.name: (0, topic.partition_count) for topic in wanted})

    @patient
    def _create_topics(self, topics: list[NewTopic], *, validate_only: bool) -> None:
        request = CreateTopicsRequest(
            topics=[
                CreatableTopic(
                    name=topic.name,
                    num_partitions=topic.partition_count,
                    replication_factor=topic.replication_factor,
                    configs=[CreatableTopicConfig(name, value) for name, value in topic.settings.items()],
                )
                for topic in topics
            ],
            timeout_ms=self.cluster.settings.request_timeout_ms,
            validate_only=validate_only,
        )
        for row in self.cluster.call_controller(request, CreateTopicsResponse).topics:
            check_code(row.error_code, "CreateTopics", row.name, row.error_message)
        self.cluster.mark_stale()

    @patient
    def delete_topics(self, names: Iterable[str]) -> None:
        wanted = list(names)
        request = DeleteTopicsRequest(
            topic_names=wanted,
            topics=[DeleteTopicState(name=name) for name in wanted],
            timeout_ms=self.cluster.settings.request_timeout_ms,
        )
        for row in self.cluster.call_controller(request, DeleteTopicsResponse).responses:
            check_code(row.error_code, "DeleteTopics", row.name or str(row.topic_id), row.error_message)
        self.cluster.mark_stale()

    def await_no_topics(self, names: Iterable[str], *, timeout_s: float = 30.0) -> None:
        """Return when the cluster no longer lists these topics."""
        deadline, backoff, gone = Deadline(timeout_s), Backoff(self.cluster.settings), set(names)
        while gone & set(self.describe_topics()) and not deadline.has_passed:
            time.sleep(deadline.at_most(backoff.next_pause_s()))

    def create_partitions(self, counts: Mapping[str, int]) -> None:
        """Grow topics to these numbers of partitions; returns when the new ones can be used."""
        before = self.describe_topics(counts)
        self._create_partitions(counts)
        self._await_use({name: (before[name].partition_count, count) for name, count in counts.items()})

    @patient
    def _create_partitions(self, counts: Mapping[str, int]) -> None:
        topics = [CreatePartitionsTopic(name, count, None) for name, count in counts.items()]
        request = CreatePartitionsRequest(topics=topics, timeout_ms=self.cluster.settings.request_timeout_ms)
        for row in self.cluster.call_controller(request, CreatePartitionsResponse).results:
            check_code(row.error_code, "CreatePartitions", row.name, row.error_message)
        self.cluster.mark_stale()

    @patient
    def describe_topics(self, names: Iterable[str] | None = None) -> dict[str, TopicMetadata]:
        """Topics by name, with their partitions and leaders; all that there are if none is named."""
        if names is None:
            return dict(self.cluster.refresh(None).topics)
        wanted = list(names)
        topics = self.cluster.refresh(wanted).topics
        for name in wanted:
            code = topics[name].error_code if name in topics else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            check_code(code, "Metadata", name)
        return {name: topics[name] for name in wanted}

    @patient
    def topic_replicas(self, name: str) -> dict[int, Replicas]:
        """Who holds copies of each partition, by partition."""
        (topic,) = self.cluster.ask_metadata([name]).topics
        check_code(topic.error_code, "Metadata", name)
        rows = sorted(topic.partitions, key=lambda row: row.partition_index)
        return {row.partition_index: Replicas(row.leader_id, row.replica_nodes, row.isr_nodes) for row in rows}

    @patient
    def topic_settings(
        self, name: str, keys: Iterable[str] | None = None, *, overrides_only: bool = False
    ) -> dict[str, str | None]:
        """What holds for the topic; with `overrides_only` what was set for itself."""
        result = describe_configs(self.cluster, TOPIC_RESOURCE, name, keys)
        check_code(result.error_code, "DescribeConfigs", name, result.error_message)
        return {
            row.name: row.value for row in result.configs if not overrides_only or row.config_source == TOPIC_OVERRIDE
        }

    @patient
    def alter_topic_settings(self, name: str, changes: Mapping[str, str | None]) -> None:
        """Set these, and bring those that are None back to their defaults; others stay as they are."""
        rows = [AlterableConfig(key, DELETE if value is None else SET, value) for key, value in changes.items()]
        request = IncrementalAlterConfigsRequest(resources=[AlterConfigsResource(TOPIC_RESOURCE, name, rows)])
        for row in self.cluster.call_controller(request, IncrementalAlterConfigsResponse).responses:
            check_code(row.error_code, "IncrementalAlterConfigs", name, row.error_message)

    def earliest_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return self.offsets_at(partitions, EARLIEST_TIMESTAMP)

    def latest_offsets(
        self, partitions: Iterable[TopicPartition], *, read_committed: bool = False
    ) -> dict[TopicPartition, int]:
        """The high watermarks, or with `read_committed` the last stable offsets."""
        return self.offsets_at(partitions, LATEST_TIMESTAMP, read_committed=read_committed)

    @patient
    def offsets_at(
        self, partitions: Iterable[TopicPartition], timestamp_ms: int, *, read_committed: bool = False
    ) -> dict[TopicPartition, int]:
        """The first offset at or after a time (-1 if there is none).

        A leader that is only being made, or has just moved, is asked for again; a topic that does not exist is an error
        at once.
        """
        wanted = dict.fromkeys(partitions, timestamp_ms)
        leaders_of(self.cluster, wanted, "ListOffsets")
        found, problem = try_list_offsets(self.cluster, wanted, Deadline(None), is_read_committed=read_committed)
        if problem is not None:
            raise problem
        return {topic_partition: found[topic_partition].offset for topic_partition in wanted}

    def _await_use(self, made: Mapping[str, tuple[int, int]]) -> None:
        """The cluster answers first and spreads the word afterwards: wait until the leader of each new partition has
        heard.

        `made` has the first new partition and the one behind the last. What was asked for is done, so that a partition
        without a leader, or a lost connection, is not an error here.
        """
        deadline = Deadline(self.cluster.settings.request_timeout_ms / 1000)
        with suppress(ClientError):
            self.cluster.refresh(made)
        for name, (first, end) in made.items():
            with suppress(ClientError):
                self._await_topic(name, first, end, deadline)

    def _await_topic(self, name: str, first: int, end: int, deadline: Deadline) -> None:
        cluster = self.cluster
        while True:
            topic = cluster.topic(name, deadline)
            new = [TopicPartition(name, index) for index in range(first, max(end, topic.partition_count))]
            if all(cluster.leader(topic_partition) is not None for topic_partition in new):
                self._await_leaders(new, deadline)
                return
            if deadline.has_passed:
                return
            time.sleep(deadline.at_most(cluster.settings.retry_backoff_ms / 1000))
            cluster.mark_stale()

    def _await_leaders(self, partitions: list[TopicPartition], deadline: Deadline) -> None:
        """A leader may hear of its partition a moment after everybody else."""
        retry(
            lambda: self.earliest_offsets(partitions),
            self.cluster.settings,
            deadline,
            None,
            is_retriable=lambda problem: isinstance(problem, UnknownTopicOrPartition),
        )


def describe_configs(
    cluster: Cluster, resource_type: int, name: str, keys: Iterable[str] | None = None, *, node: Node | None = None
) -> DescribeConfigsResult:
    """The settings of a topic, or of the broker `node`, that are named by `keys`, or all; asked once."""
    resource = DescribeConfigsResource(resource_type, name, None if keys is None else list(keys))
    request = DescribeConfigsRequest(resources=[resource])
    if node is None:
        return cluster.call_any(request, DescribeConfigsResponse).results[0]
    return cluster.call(node, request, DescribeConfigsResponse).results[0]


def max_message_bytes(cluster: Cluster, name: str) -> int:
    """The largest batch that the topic takes; Kafka's default where the broker does not say."""
    try:
        value = TopicCalls(cluster).topic_settings(name, ["max.message.bytes"]).get("max.message.bytes")
    except ClientError:
        return DEFAULT_MAX_MESSAGE_BYTES
    return int(value) if value else DEFAULT_MAX_MESSAGE_BYTES
