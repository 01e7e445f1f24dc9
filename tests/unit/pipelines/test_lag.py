import json

from fencepost.client.exceptions import Disconnected
from fencepost.client.net.metadata import PartitionMetadata, TopicMetadata
from fencepost.client.values import OffsetAndMetadata
from fencepost.pipelines.progress import LagWatch, positions_in
from fencepost.types import NO_TOPIC_ID, TopicPartition

FIRST, SECOND = TopicPartition("a", 0), TopicPartition("a", 1)
PROGRESS = {
    "sources": [
        {
            "endOffset": json.dumps(
                {
                    "fencepost": 1,
                    "cluster": "c",
                    "topics": {"a": {"id": str(NO_TOPIC_ID), "partitions": {"0": 90, "1": 10}}},
                }
            )
        },
        {"endOffset": "17"},
        {"endOffset": None},
    ]
}


class Cluster:
    """Answers as an `Admin` does, from what it was made with."""

    def __init__(self, committed=None, is_away=False):
        self.committed, self.is_away = committed or {}, is_away

    def describe_topics(self, names):
        if self.is_away:
            raise Disconnected("no broker")
        partitions = {index: PartitionMetadata(0, 0) for index in (0, 1)}
        return {name: TopicMetadata(name, NO_TOPIC_ID, partitions) for name in names}

    def latest_offsets(self, partitions, *, read_committed):
        return {FIRST: 100, SECOND: 10}

    def earliest_offsets(self, partitions):
        return dict.fromkeys(partitions, 4)

    def group_offsets(self, group_id):
        return {where: OffsetAndMetadata(offset) for where, offset in self.committed.items()}


def test_lag_counts_from_what_was_committed():
    assert LagWatch(Cluster({FIRST: 97, SECOND: 10})).lag(("a",), group_id="g") == 3


def test_a_partition_without_a_commit_counts_from_its_beginning():
    assert LagWatch(Cluster({FIRST: 100})).lag(("a",), group_id="g") == 6


def test_where_nothing_is_committed_sparks_progress_tells():
    assert LagWatch(Cluster()).lag(("a",), group_id="g", progress=PROGRESS) == 10


def test_lag_is_unknown_while_the_cluster_is_away():
    assert LagWatch(Cluster(is_away=True)).lag(("a",), group_id="g") is None


def test_only_offsets_of_topics_are_taken_from_sparks_progress():
    assert positions_in(PROGRESS) == {FIRST: 90, SECOND: 10}
    assert positions_in(None) == {}
