"""Topics and their settings, as calls on a cluster."""

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from fencepost.client.admin.asking import patient
from fencepost.client.cluster import Cluster
from fencepost.client.error_table import error_of
from fencepost.client.exceptions import ClientError, UnknownTopicOrPartition
from fencepost.client.net.metadata import TopicMetadata
from fencepost.client.time_limits import Backoff, Deadline
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
)
from fencepost.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from fencepost.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

TOPIC_RESOURCE = 2
TOPIC_OVERRIDE = 1
"""Where a setting comes from: the topic itself. Other sources are the broker's."""
DEFAULT_MAX_MESSAGE_BYTES = 1_048_588
BROKER_CHOOSES = -1
EARLIEST, LATEST = -2, -1
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


def create_topics(cluster: Cluster, topics: Iterable[NewTopic], *, validate_only: bool = False) -> None:
    """All of them, or an error that names the first that was refused; others may exist by then.

    Returns when they can be used.
    """
    wanted = list(topics)
    _create_topics(cluster, wanted, validate_only=validate_only)
    if not validate_only:
        _await_use(cluster, {topic.name: (0, topic.partition_count) for topic in wanted})


@patient
def _create_topics(cluster: Cluster, topics: list[NewTopic], *, validate_only: bool) -> None:
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
        timeout_ms=cluster.settings.request_timeout_ms,
        validate_only=validate_only,
    )
    response = cluster.call_controller(request, CreateTopicsResponse)
    for row in response.topics:
        _check(row.error_code, "CreateTopics", row.name, row.error_message)
    cluster.mark_stale()


@patient
def delete_topics(cluster: Cluster, names: Iterable[str]) -> None:
    wanted = list(names)
    request = DeleteTopicsRequest(
        topic_names=wanted,
        topics=[DeleteTopicState(name=name) for name in wanted],
        timeout_ms=cluster.settings.request_timeout_ms,
    )
    for row in cluster.call_controller(request, DeleteTopicsResponse).responses:
        _check(row.error_code, "DeleteTopics", row.name or str(row.topic_id), row.error_message)
    cluster.mark_stale()


def create_partitions(cluster: Cluster, counts: Mapping[str, int]) -> None:
    """Grow topics to these numbers of partitions; returns when the new ones can be used."""
    before = describe_topics(cluster, counts)
    _create_partitions(cluster, counts)
    _await_use(cluster, {name: (before[name].partition_count, count) for name, count in counts.items()})


@patient
def _create_partitions(cluster: Cluster, counts: Mapping[str, int]) -> None:
    topics = [CreatePartitionsTopic(name, count, None) for name, count in counts.items()]
    request = CreatePartitionsRequest(topics=topics, timeout_ms=cluster.settings.request_timeout_ms)
    for row in cluster.call_controller(request, CreatePartitionsResponse).results:
        _check(row.error_code, "CreatePartitions", row.name, row.error_message)
    cluster.mark_stale()


@patient
def describe_topics(cluster: Cluster, names: Iterable[str] | None = None) -> dict[str, TopicMetadata]:
    """Topics by name, with their partitions and leaders; all that there are if none is named."""
    if names is None:
        return dict(cluster.refresh(None).topics)
    wanted = list(names)
    topics = cluster.refresh(wanted).topics
    for name in wanted:
        code = topics[name].error_code if name in topics else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        _check(code, "Metadata", name, None)
    return {name: topics[name] for name in wanted}


@patient
def topic_replicas(cluster: Cluster, name: str) -> dict[int, Replicas]:
    """Who holds copies of each partition, by partition."""
    topic = cluster.ask_metadata([name]).topics[0]
    _check(topic.error_code, "Metadata", name, None)
    rows = sorted(topic.partitions, key=lambda row: row.partition_index)
    return {row.partition_index: Replicas(row.leader_id, row.replica_nodes, row.isr_nodes) for row in rows}


@patient
def topic_settings(
    cluster: Cluster, name: str, keys: Iterable[str] | None = None, *, overrides_only: bool = False
) -> dict[str, str | None]:
    """What holds for the topic; with `overrides_only` what was set for itself."""
    resource = DescribeConfigsResource(TOPIC_RESOURCE, name, None if keys is None else list(keys))
    response = cluster.call_any(DescribeConfigsRequest(resources=[resource]), DescribeConfigsResponse)
    result = response.results[0]
    _check(result.error_code, "DescribeConfigs", name, result.error_message)
    return {row.name: row.value for row in result.configs if not overrides_only or row.config_source == TOPIC_OVERRIDE}


@patient
def alter_topic_settings(cluster: Cluster, name: str, changes: Mapping[str, str | None]) -> None:
    """Set these, and bring those that are None back to their defaults; others stay as they are."""
    rows = [AlterableConfig(key, DELETE if value is None else SET, value) for key, value in changes.items()]
    request = IncrementalAlterConfigsRequest(resources=[AlterConfigsResource(TOPIC_RESOURCE, name, rows)])
    for row in cluster.call_controller(request, IncrementalAlterConfigsResponse).responses:
        _check(row.error_code, "IncrementalAlterConfigs", name, row.error_message)


def max_message_bytes(cluster: Cluster, name: str) -> int:
    """The largest batch that the topic takes; Kafka's default where the broker does not say."""
    try:
        value = topic_settings(cluster, name, ["max.message.bytes"]).get("max.message.bytes")
    except ClientError:
        return DEFAULT_MAX_MESSAGE_BYTES
    return int(value) if value else DEFAULT_MAX_MESSAGE_BYTES


@patient
def list_offsets(
    cluster: Cluster, partitions: Iterable[TopicPartition], timestamp: int, *, read_committed: bool = False
) -> dict[TopicPartition, int]:
    """EARLIEST, LATEST, or the first offset at or after a time in ms (-1 if there is none).

    With `read_committed` the latest offset is the last stable one. A leader that is only being made, or has just moved,
    is asked for again; a topic that does not exist is an error at once.
    """
    wanted = list(partitions)
    if cluster.needs_refresh or any(cluster.leader(partition) is None for partition in wanted):
        cluster.refresh({partition.topic for partition in wanted})
    found: dict[TopicPartition, int] = {}
    for node, topics in _by_leader(cluster, wanted, timestamp).items():
        broker = cluster.metadata.brokers[node]
        request = ListOffsetsRequest(replica_id=-1, isolation_level=int(read_committed), topics=topics)
        for topic in cluster.call(broker, request, ListOffsetsResponse).topics:
            for row in topic.partitions:
                where = TopicPartition(topic.name, row.partition_index)
                _check(row.error_code, "ListOffsets", str(where), None)
                found[where] = row.offset
    return found


def _await_use(cluster: Cluster, made: Mapping[str, tuple[int, int]]) -> None:
    """The cluster answers first and spreads the word afterwards: wait until the leader of each new partition has heard.

    `made` has the first new partition and the one behind the last. What was asked for is done, so that a partition
    without a leader, or a lost connection, is not an error here.
    """
    deadline = Deadline(cluster.settings.request_timeout_ms / 1000)
    with suppress(ClientError):
        cluster.refresh(made)
    for name, (first, end) in made.items():
        with suppress(ClientError):
            _await_topic(cluster, name, first, end, deadline)


def _await_topic(cluster: Cluster, name: str, first: int, end: int, deadline: Deadline) -> None:
    while True:
        topic = cluster.topic(name, deadline)
        new = [TopicPartition(name, index) for index in range(first, max(end, topic.partition_count))]
        if all(cluster.leader(where) is not None for where in new):
            _await_leaders(cluster, new, deadline)
            return
        if deadline.has_passed:
            return
        time.sleep(deadline.at_most(cluster.settings.retry_backoff_ms / 1000))
        cluster.mark_stale()


def _await_leaders(cluster: Cluster, partitions: list[TopicPartition], deadline: Deadline) -> None:
    """A leader may hear of its partition a moment after everybody else."""
    backoff = Backoff(cluster.settings)
    while True:
        try:
            list_offsets(cluster, partitions, EARLIEST)
            return
        except UnknownTopicOrPartition:
            if deadline.has_passed:
                raise
        time.sleep(deadline.at_most(backoff.next_pause_s()))


def await_no_topics(cluster: Cluster, names: Iterable[str], *, timeout_s: float = 30.0) -> None:
    """Return when the cluster no longer lists these topics."""
    deadline, backoff, gone = Deadline(timeout_s), Backoff(cluster.settings), set(names)
    while gone & set(describe_topics(cluster)) and not deadline.has_passed:
        time.sleep(deadline.at_most(backoff.next_pause_s()))


def _by_leader(
    cluster: Cluster, partitions: Iterable[TopicPartition], timestamp: int
) -> dict[int, list[ListOffsetsTopic]]:
    by_node: dict[int, dict[str, ListOffsetsTopic]] = {}
    for where in partitions:
        leader = cluster.leader(where)
        if leader is None:
            raise error_of(ErrorCode.LEADER_NOT_AVAILABLE, "ListOffsets", what=str(where))
        topics = by_node.setdefault(leader.node_id, {})
        row = ListOffsetsPartition(partition_index=where.partition, timestamp=timestamp)
        topics.setdefault(where.topic, ListOffsetsTopic(name=where.topic)).partitions.append(row)
    return {node: list(topics.values()) for node, topics in by_node.items()}


def _check(error_code: int, api_name: str, what: str, explanation: str | None) -> None:
    if error_code:
        raise error_of(error_code, api_name, what=what, explanation=explanation)
