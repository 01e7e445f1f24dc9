"""Which micro-batch of which query this is, and between which source offsets: from the query's own offset log.

A query says where it is through the JVM's table of active queries, whatever file system its checkpoint is on. With
`checkpoint` the log is read from a folder instead, for callers that are not inside a running query.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from fencepost.spark.sink_errors import RefusedSetup
from fencepost.spark.token import Offsets

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


def locate(batch_df: DataFrame, batch_id: int, *, checkpoint: str | None = None) -> MicroBatch:
    context = batch_df.sparkSession.sparkContext
    query_id = context.getLocalProperty("sql.streaming.queryId")
    run_id = context.getLocalProperty("spark.jobGroup.id") or ""
    if checkpoint is not None:
        return _from_folder(_local_path(checkpoint), batch_id, run_id)
    if query_id is None:
        raise RefusedSetup(
            "the sink was not called by a streaming query: give it to writeStream.foreachBatch, or use write(df, "
            "token=...)"
        )
    query = _active_query(batch_df, query_id)
    if query is None:
        raise RefusedSetup(
            f"query {query_id} is not known to this driver, so its offset log cannot be read: name its folder with "
            "checkpoint=..."
        )
    log = query.offsetLog()
    end = _logged(log, batch_id)
    if end is None:
        raise RefusedSetup(f"the offset log of query {query_id} has no entry for micro-batch {batch_id}")
    start = None if batch_id == 0 else _logged(log, batch_id - 1)
    return MicroBatch(query_id=query_id, run_id=run_id, batch_id=batch_id, start=start, end=end)


def _active_query(batch_df: DataFrame, query_id: str) -> Any:
    session = batch_df.sparkSession
    jvm = session._jvm
    assert jvm is not None
    uuid = jvm.java.util.UUID.fromString(query_id)
    return session._jsparkSession.sharedState().activeStreamingQueries().get(uuid)


def _logged(log: Any, batch_id: int) -> Offsets | None:
    entry = log.get(batch_id)
    if not entry.isDefined():
        return None
    offsets = entry.get().offsets()
    found = (offsets.apply(index) for index in range(offsets.size()))
    return tuple(json.loads(offset.get().json()) if offset.isDefined() else None for offset in found)


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
