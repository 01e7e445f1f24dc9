import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from fencepost.client.exceptions import Disconnected
from fencepost.client.net.metadata import PartitionMetadata, TopicMetadata
from fencepost.client.values import OffsetAndMetadata
from fencepost.pipelines.progress import (
    RUNNING,
    STOPPED,
    WAITING,
    JsonLines,
    LagWatch,
    PlainLines,
    Progress,
    StageProgress,
    ago,
    positions_in,
    table_of,
)
from fencepost.spark.sink.errors import SinkEvent
from fencepost.types import NO_TOPIC_ID, TopicPartition


def event(**changes):
    return SinkEvent(
        **{"name": "shop", "batch_id": 3, "row_count": 20, "size_bytes": 900, "commit_ms": 12.34, **changes}
    )


def test_a_commit_counts_rows_and_a_transaction_and_a_ledger_hit_counts_neither():
    progress = Progress.of(["shop"])
    progress.committed(event(retry_count=2))
    progress.committed(event(batch_id=4, is_skipped=True))
    stage = progress.snapshot()[0]
    assert (stage.rows_out, stage.bytes_out, stage.transactions, stage.skipped, stage.retries) == (20, 900, 1, 1, 2)
    assert stage.batch_id == 4
    assert stage.commit_took_ms == 12.3


def test_a_commit_clears_the_problem_that_came_before_it():
    progress = Progress.of(["shop"])
    progress.update("shop", state=WAITING, problem="the broker is away")
    progress.committed(event())
    assert (progress.snapshot()[0].problem, progress.snapshot()[0].state) == (None, RUNNING)


def test_json_lines_repeat_nothing_that_has_not_changed():
    stream = io.StringIO()
    lines = JsonLines(stream)
    stage = StageProgress("shop", lag=5)
    lines.progress([stage])
    lines.progress([stage])
    lines.progress([StageProgress("shop", lag=0)])
    lines.event("stopped", pipeline="shop")
    rows = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(row["event"], row.get("lag")) for row in rows] == [("progress", 5), ("progress", 0), ("stopped", None)]
    assert all(row["pipeline"] == "shop" for row in rows)


def test_plain_lines_tell_each_commit_once():
    shown = []
    lines = PlainLines(shown.append)
    stage = StageProgress("shop", batch_id=0, rows_in=1000, rows_out=2000, transactions=1, lag=None)
    lines.progress([stage])
    lines.progress([stage])
    lines.event("restarting", pipeline="shop", in_seconds=0.5)
    assert shown == [
        "committed shop: micro-batch 0, 1,000 rows in, 2,000 out, 1 transactions, lag unknown, 0 retries",
        "restarting shop: in seconds 0.5",
    ]


def test_plain_lines_wait_for_the_rows_in_of_what_was_committed():
    shown = []
    lines = PlainLines(shown.append)
    committed = StageProgress("shop", RUNNING, batch_id=1, counted_batch_id=0, rows_in=10, rows_out=40, transactions=2)
    lines.progress([committed])
    assert shown == []
    lines.progress([replace(committed, counted_batch_id=1, rows_in=20, lag=0)])
    assert shown == ["committed shop: micro-batch 1, 20 rows in, 40 out, 2 transactions, lag 0, 0 retries"]


def test_plain_lines_of_a_run_that_ends_wait_for_nothing():
    shown = []
    ended = StageProgress("shop", STOPPED, batch_id=1, counted_batch_id=0, rows_in=10, rows_out=40, transactions=2)
    PlainLines(shown.append).progress([ended])
    assert len(shown) == 1


def test_the_display_has_a_row_per_pipeline_and_shows_what_is_wrong_under_it():
    console = Console(width=160, file=io.StringIO())
    console.print(table_of([StageProgress("shop", rows_in=1234, lag=7, problem="the broker is away")]))
    shown = console.file.getvalue()
    for text in ("shop", "1,234", "7", "never", "the broker is away"):
        assert text in shown


def test_moments_are_told_as_time_that_has_passed():
    assert ago(None, 0) == "never"
    assert ago(1_000, 3_500) == "2.5 s ago"
    assert ago(0, 180_000) == "3 min ago"


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


@pytest.mark.parametrize(
    ("cluster", "lag"),
    [
        (Cluster({FIRST: 97, SECOND: 10}), 3),
        (Cluster({FIRST: 100}), 6),
        (Cluster(), 10),
        (Cluster(is_away=True), None),
    ],
    ids=["from what was committed", "or the beginning", "or Spark's progress", "unknown"],
)
def test_lag_counts_from_where_the_pipeline_is(cluster, lag):
    assert LagWatch(cluster).lag(("a",), group_id="g", progress=PROGRESS) == lag


def test_only_offsets_of_topics_are_taken_from_sparks_progress():
    assert positions_in(PROGRESS) == {FIRST: 90, SECOND: 10}
    assert positions_in(None) == {}
