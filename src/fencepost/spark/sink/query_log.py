"""Which micro-batch of which query this is, and between which source offsets: from the query's own offset log.

A query says where it is through the JVM's table of active queries, whatever file system its checkpoint is on. With
`checkpoint` the log is read from a folder instead, for callers that are not inside a running query.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.sql import DataFrame

from fencepost.spark.sink.errors import RefusedSetup
from fencepost.spark.sink.token import Offsets

NO_OFFSET_LINE = "-"
LINES_BEFORE_OFFSETS = 2
"""The log's version and the micro-batch's metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatch:
    query_id: str
    run_id: str
    batch_id: int
    start: Offsets | None
    end: Offsets
    source_servers: frozenset[str] = frozenset()
    """Where Kafka sources of the query read, by their options; Spark's own writes no cluster id into its offsets."""


class QueryLog:
    """Remembers the log of the query that runs and where its last micro-batch ended: the JVM is asked for the rest."""

    def __init__(self, checkpoint: str | None = None) -> None:
        self._folder = None if checkpoint is None else _local_path(checkpoint)
        self._query: Any = None
        self._query_id: str | None = None
        self._run_id = ""
        self._log: Any = None
        self._servers: frozenset[str] = frozenset()
        self._ends: dict[int, Offsets] = {}

    def locate(self, batch_df: DataFrame, batch_id: int) -> MicroBatch:
        context = batch_df.sparkSession.sparkContext
        query_id = context.getLocalProperty("sql.streaming.queryId")
        is_known = query_id is not None and self._knows_run(batch_df, query_id)
        if self._folder is not None:
            # Who calls without a query has no run of one: what is started and lost as a whole is the application.
            return _from_folder(self._folder, batch_id, self._run_id if is_known else str(context.applicationId))
        if query_id is None:
            raise RefusedSetup(
                "the sink was not called by a streaming query: give it to writeStream.foreachBatch, "
                "or use write(df, token=...)"
            )
        if not is_known:
            raise RefusedSetup(
                f"query {query_id} is not known to this driver, so its offset log cannot be read: "
                "name its folder with checkpoint=..."
            )
        start = None if batch_id == 0 else self._end(batch_id - 1)
        end = self._end(batch_id)
        self._ends = {batch_id: end}
        return MicroBatch(
            query_id=query_id,
            run_id=self._run_id,
            batch_id=batch_id,
            start=start,
            end=end,
            source_servers=self._servers,
        )

    def _knows_run(self, batch_df: DataFrame, query_id: str) -> bool:
        """Whether the driver has this query, which is looked up once in each of its runs.

        The query itself says which run it is. Spark also groups its jobs by that, but anybody may group them otherwise.
        """
        if query_id == self._query_id and self._query.isActive():
            return True
        query = _active_query(batch_df, query_id)
        if query is None:
            return False
        self._query, self._query_id = query, query_id
        self._run_id = query.runId().toString()
        self._log = query.offsetLog()
        self._servers = _source_servers(query)
        self._ends = {}
        return True

    def _end(self, batch_id: int) -> Offsets:
        known = self._ends.get(batch_id)
        if known is not None:
            return known
        entry = self._log.get(batch_id)
        if not entry.isDefined():
            raise RefusedSetup(f"the query's offset log has no entry for micro-batch {batch_id}")
        offsets = entry.get().offsets()
        found = (offsets.apply(index) for index in range(offsets.size()))
        return tuple(json.loads(offset.get().json()) if offset.isDefined() else None for offset in found)


def _active_query(batch_df: DataFrame, query_id: str) -> Any:
    session = batch_df.sparkSession
    jvm = session._jvm
    assert jvm is not None
    queries = session._jsparkSession.sharedState().activeStreamingQueries()
    return queries.get(jvm.java.util.UUID.fromString(query_id))


def _source_servers(query: Any) -> frozenset[str]:
    leaves = query.logicalPlan().collectLeaves()
    found = set()
    for index in range(leaves.size()):
        try:
            servers = leaves.apply(index).relation().options().get("kafka.bootstrap.servers")
        except Py4JError:
            # A leaf of another kind: files, memory, a table.
            continue
        if servers is not None:
            found.add(str(servers))
    return frozenset(found)


def _from_folder(folder: Path, batch_id: int, run_id: str) -> MicroBatch:
    query_id = json.loads((folder / "metadata").read_text())["id"]
    end = _read_entry(folder, batch_id)
    start = None if batch_id == 0 else _read_entry(folder, batch_id - 1)
    return MicroBatch(query_id=query_id, run_id=run_id, batch_id=batch_id, start=start, end=end)


def _read_entry(folder: Path, batch_id: int) -> Offsets:
    lines = (folder / "offsets" / str(batch_id)).read_text().splitlines()[LINES_BEFORE_OFFSETS:]
    return tuple(None if line == NO_OFFSET_LINE else json.loads(line) for line in lines)


def _local_path(checkpoint: str) -> Path:
    if "://" in checkpoint.removeprefix("file://"):
        raise RefusedSetup(f"checkpoint={checkpoint}: only a local folder can be read from here")
    return Path(checkpoint.removeprefix("file://").removeprefix("file:"))
