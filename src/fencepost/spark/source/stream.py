"""The streaming reader. Spark keeps one in a process of its own on the driver, and copies of it read in tasks.

Spark asks for `initialOffset` several times, and again when micro-batch 0 is run anew after a crash. Therefore the
first `latestOffset` returns exactly the resolved start: micro-batch 0 is empty, and pins the start in the offset log
before anything is read. If it is run anew, a start that was resolved later lies at or behind its end, so that it
stays empty. Only `Trigger.Once`, which runs one micro-batch and no more, reads in it at once.
"""

import time
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from fencepost.settings import INT64_MAX
from fencepost.spark.offsets import InvalidSourceOffset, OffsetJson, SourceOffsets, from_json
from fencepost.spark.source.cluster import SourceCluster
from fencepost.spark.source.following import check_cluster, deleted, is_replaced, plot_course, replaced
from fencepost.spark.source.options import SourceOptions, stream_start
from fencepost.spark.source.planning import count_offsets, input_partitions, limit_offsets, not_overtaken, read_plan
from fencepost.spark.source.reading import read_partition
from fencepost.spark.source.start import resolve_start

# ruff: noqa: N802 - the methods carry the names that Spark calls


class FencepostStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._start_choice = stream_start(options)
        self._plan = read_plan(options)
        self._opened: SourceCluster | None = None
        self._initial: SourceOffsets | None = None
        self._is_pinned = False
        """Whether micro-batch 0 is planned, so that the start is in the offset log."""
        self._target: SourceOffsets | None = None
        """Where `Trigger.AvailableNow` ends."""
        self._reported: SourceOffsets | None = None
        self._last_trigger_s = time.monotonic()

    def initialOffset(self) -> OffsetJson:
        if self._initial is None:
            latest_without_match = self._options.starts_at_latest_without_match
            self._initial = resolve_start(
                self._cluster, self._start_choice, self._plan.policy, latest_without_match=latest_without_match
            )
            if self._target is not None:
                # Asked for before the start was known: a partition or an offset of the start may lie behind it.
                self._target = self._latest()
        return self._initial.to_json()

    def getDefaultReadLimit(self) -> ReadLimit:
        """Never `ReadAllAvailable`: that is how `Trigger.Once` says to leave limits aside."""
        return ReadMaxRows(self._options.max_offsets_per_trigger or INT64_MAX)

    def prepareForTriggerAvailableNow(self) -> None:
        self._target = self._latest()

    def latestOffset(self, start: OffsetJson, limit: ReadLimit) -> OffsetJson:
        begin = _parsed(start)
        is_once = isinstance(limit, ReadAllAvailable)
        if begin == self._initial and not self._is_pinned and not is_once:
            self._is_pinned = True
            return start
        latest = self._reported = self._target or self._latest()
        course = plot_course(
            begin,
            latest,
            earliest=self._cluster.earliest,
            is_chosen=self._options.topics.has_topic,
            policy=self._plan.policy,
        )
        waiting = count_offsets(course.start, course.end)
        if not course.begun and not is_once and self._waits_for_more(waiting):
            return start
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else INT64_MAX
        positions = {**limit_offsets(course.start, course.end, most), **course.begun}
        if positions == begin.positions:
            return start
        self._last_trigger_s = time.monotonic()
        return latest.at(positions).to_json()

    def reportLatestOffset(self) -> OffsetJson | None:
        return None if self._reported is None else self._reported.to_json()

    def partitions(self, start: OffsetJson, end: OffsetJson) -> Sequence[InputPartition]:
        self._is_pinned = True
        begin, last = _parsed(start), _parsed(end)
        if not any(begin.positions.get(one, offset) < offset for one, offset in last.positions.items()):
            return []
        now = self._cluster.partitions()
        check_cluster(last, now.cluster_id)
        gone = {topic for topic in last.topics if is_replaced(last, now, topic)}
        for topic in sorted(gone):
            self._plan.policy.report(replaced(topic, expected=last.topic_id(topic), found=now.topic_id(topic)))
        gone |= {topic for topic in last.topics if is_replaced(begin, last, topic)}
        gone |= self._deleted(begin, last, now, gone)
        kept = begin.at({one: offset for one, offset in begin.positions.items() if one.topic not in gone})
        readable = not_overtaken(self._cluster, kept, last, self._plan.policy)
        return input_partitions(self._options, readable, last)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_partition(self._plan, partition)

    def commit(self, end: OffsetJson) -> None:
        """Nothing to do: the checkpoint says how far the query has come."""

    def stop(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    @property
    def _cluster(self) -> SourceCluster:
        if self._opened is None:
            self._opened = SourceCluster(self._options.kafka, self._options.topics)
        return self._opened

    def _latest(self) -> SourceOffsets:
        found = self._cluster.partitions()
        return found.at(self._cluster.latest(found.positions))

    def _deleted(self, begin: SourceOffsets, last: SourceOffsets, now: SourceOffsets, gone: set[str]) -> set[str]:
        """Topics that the micro-batch wants and that are there no more, each reported; `gone` are so already."""
        unseen = [
            topic_partition
            for topic_partition, offset in last.positions.items()
            if begin.positions.get(topic_partition, offset) < offset
            and topic_partition not in now.positions
            and topic_partition.topic not in gone
        ]
        topics = {topic_partition.topic for topic_partition in self._cluster.missing(unseen)} if unseen else set()
        for topic in sorted(topics):
            self._plan.policy.report(deleted(topic))
        return topics

    def _waits_for_more(self, waiting: int) -> bool:
        """`minOffsetsPerTrigger`: too little is there, and `maxTriggerDelay` is not over. Not with an end in sight."""
        least = self._options.min_offsets_per_trigger
        if least is None or waiting >= least or self._target is not None:
            return False
        return time.monotonic() - self._last_trigger_s < self._options.max_trigger_delay_ms / 1000


def _parsed(value: OffsetJson) -> SourceOffsets:
    found = from_json(value)
    if found is None:
        raise InvalidSourceOffset(
            f"the checkpoint holds {value}, which is no offset of this source: the query had another source before; "
            "start it with a new checkpoint"
        )
    return found
