"""A streaming query without Spark: calls the reader as Spark does, in its order, with JSON in between.

The order is that of Spark 4.3: `latestOffset`, the offset log is written, `partitions`, `read` in copies that went
through pickle, the commit log is written. `kill` forgets the reader and keeps the logs.
"""

import json
import pickle
from typing import Any

from pyspark.sql.streaming.datasource import ReadLimit

from fencepost.spark.offsets import OffsetJson
from fencepost.spark.source import FencepostDataSource
from fencepost.spark.source.reading import close_readers
from fencepost.spark.source.stream import FencepostStreamReader
from tests.spark.source.broker_use import Broker

Row = dict[str, Any]
_made: list[FencepostStreamReader] = []


def source(broker: Broker, topic: str | None = "purchases", **options: str) -> FencepostDataSource:
    chosen = {} if topic is None else {"subscribe": topic}
    return FencepostDataSource({"kafka.bootstrap.servers": broker.bootstrap_servers, **chosen, **options})


def batch_rows(broker: Broker, topic: str | None = "purchases", **options: str) -> list[Row]:
    made = source(broker, topic, **options)
    reader = made.reader(made.schema())
    return [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]


class Query:
    def __init__(self, broker: Broker, topic: str | None = "purchases", **options: str) -> None:
        self._source = source(broker, topic, **options)
        self.offset_log: list[str] = []
        self.commit_count = 0
        self.reader = self._new_reader()

    def trigger(self, limit: ReadLimit | None = None) -> list[Row] | None:
        """One micro-batch's rows; None if Spark would not run one."""
        if self.commit_count == len(self.offset_log):
            start = self._start()
            end = self._text(self.reader.latestOffset(start, limit or self.reader.getDefaultReadLimit()))
            if self.offset_log and end == self._text(start):
                return None
            self.offset_log.append(end)
        rows = self.run_planned()
        self.commit_count += 1
        return rows

    def run_planned(self) -> list[Row]:
        """Read the micro-batch that is in the offset log last; it is not committed by this."""
        before, end = self.offset_log[:-1], json.loads(self.offset_log[-1])
        start = json.loads(before[-1]) if before else json.loads(self._text(self.reader.initialOffset()))
        partitions = [pickle.loads(pickle.dumps(part)) for part in self.reader.partitions(start, end)]
        in_task = pickle.loads(pickle.dumps(self._new_reader()))
        return [row for part in partitions for batch in in_task.read(part) for row in batch.to_pylist()]

    def drain(self) -> list[Row]:
        """All rows until there is nothing to do."""
        rows: list[Row] = []
        while (found := self.trigger()) is not None:
            rows += found
        return rows

    def kill(self, *, before_commit: bool = False) -> None:
        """The driver dies, perhaps between the end of a micro-batch and the writing of its commit."""
        self.commit_count -= int(before_commit)
        self.reader.stop()
        self.reader = self._new_reader()

    def restart_with(self, broker: Broker, topic: str | None = "purchases", **options: str) -> None:
        self._source = source(broker, topic, **options)
        self.kill()

    @property
    def last_offset(self) -> OffsetJson:
        return dict(json.loads(self.offset_log[-1]))

    def _start(self) -> OffsetJson:
        return dict(json.loads(self.offset_log[-1] if self.offset_log else self._text(self.reader.initialOffset())))

    def _new_reader(self) -> FencepostStreamReader:
        reader = self._source.streamReader(self._source.schema())
        assert isinstance(reader, FencepostStreamReader)
        _made.append(reader)
        return reader

    @staticmethod
    def _text(offset: OffsetJson) -> str:
        return json.dumps(offset)


def close_all() -> None:
    """Close every connection that queries of this test have opened."""
    while _made:
        _made.pop().stop()
    close_readers()


def values(rows: list[Row] | None) -> list[bytes]:
    return [row["value"] for row in rows or ()]
