"""Whom the fetcher asks for what, and when it asks who leads: against a cluster that only writes down."""

from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from fencepost.client.cluster import Cluster
from fencepost.client.consumer.assignment import Assignment
from fencepost.client.consumer.fetcher import Fetcher
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.net.metadata import NO_NODE, ClusterMetadata, Node, PartitionMetadata, TopicMetadata
from fencepost.client.time_limits import Deadline
from fencepost.types import TopicPartition
from fencepost.wire.messages.fetch import FetchRequest

LED, LEADERLESS = TopicPartition("t", 0), TopicPartition("t", 1)
OLD, NEW = UUID(int=1), UUID(int=2)
LEADER = Node(0, "127.0.0.1", 1)


def known(topic_id: UUID = OLD) -> ClusterMetadata:
    partitions = {0: PartitionMetadata(0, 5), 1: PartitionMetadata(NO_NODE, 5)}
    return ClusterMetadata(brokers={0: LEADER}, topics={"t": TopicMetadata("t", topic_id, partitions)})


class FakeConnection:
    def __init__(self) -> None:
        self.sent: list[FetchRequest] = []
        self.is_closed = False
        self.versions = SimpleNamespace(choose=lambda *_, **__: 17)

    def send(self, request: FetchRequest, **_: Any) -> Any:
        self.sent.append(request)
        return SimpleNamespace(deadline=Deadline(None))

    def close(self) -> None:
        self.is_closed = True


class FakeCluster:
    def __init__(self) -> None:
        self.snapshots = [known()]
        """What `metadata` says, look by look; the last one stays."""
        self.connections: list[FakeConnection] = []
        self.stale_count = 0

    @property
    def metadata(self) -> ClusterMetadata:
        return self.snapshots.pop(0) if len(self.snapshots) > 1 else self.snapshots[0]

    def mark_stale(self) -> None:
        self.stale_count += 1

    def connect(self, node: Node) -> FakeConnection:
        assert node == LEADER
        self.connections.append(FakeConnection())
        return self.connections[-1]


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster()


def fetcher(cluster: FakeCluster, *partitions: TopicPartition, backoff_ms: int = 60_000) -> tuple[Fetcher, Assignment]:
    assignment = Assignment()
    assignment.become(partitions)
    for state in assignment:
        state.topic_id = OLD
        state.move_to(0)
    settings = ConsumerSettings(retry_backoff_ms=backoff_ms, retry_backoff_max_ms=backoff_ms)
    return Fetcher(cast(Cluster, cluster), settings, assignment), assignment


def test_a_partition_without_a_leader_is_asked_after_once_in_a_while_not_with_every_poll(cluster: FakeCluster) -> None:
    fetching, _ = fetcher(cluster, LED, LEADERLESS)
    for _ in range(600):
        fetching.send()
    assert cluster.stale_count == 1


def test_it_is_asked_after_again_when_the_pause_is_over(cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr("fencepost.client.consumer.fetcher.time", SimpleNamespace(monotonic=lambda: clock[0]))
    fetching, _ = fetcher(cluster, LED, LEADERLESS, backoff_ms=100)
    for _ in range(100):
        fetching.send()
        clock[0] += 0.01
    assert 8 <= cluster.stale_count <= 13


def test_partitions_that_all_have_a_leader_are_not_asked_after(cluster: FakeCluster) -> None:
    fetching, _ = fetcher(cluster, LED)
    fetching.send()
    assert cluster.stale_count == 0
    (topic,) = cluster.connections[0].sent[0].topics
    assert (topic.topic_id, topic.partitions[0].current_leader_epoch) == (OLD, 5)


def test_metadata_that_is_replaced_in_the_middle_does_no_harm(cluster: FakeCluster) -> None:
    cluster.snapshots.append(ClusterMetadata())
    fetching, _ = fetcher(cluster, LED)
    fetching.send()
    assert len(cluster.connections[0].sent) == 1


def test_a_fetch_of_a_topic_that_was_deleted_is_given_up(cluster: FakeCluster) -> None:
    fetching, assignment = fetcher(cluster, LED)
    fetching.send()
    cluster.snapshots = [known(NEW)]
    assignment[LED].topic_id = NEW
    assignment[LED].move_to(0)
    fetching.send()
    first, second = cluster.connections
    assert first.is_closed
    assert second.sent[0].topics[0].topic_id == NEW


def test_an_offset_is_not_asked_of_another_topic_than_the_one_it_belongs_to(cluster: FakeCluster) -> None:
    """Another thread may have refreshed the metadata since the consumer looked at the topic's id."""
    fetching, _ = fetcher(cluster, LED)
    cluster.snapshots = [known(NEW)]
    fetching.send()
    assert cluster.connections == []
