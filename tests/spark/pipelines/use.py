"""What these tests do with topics: write rows, read committed rows, run one pipeline until it has read everything."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from fencepost.client import Admin, Producer, read_arrow
from fencepost.pipelines.loading import load_pipelines
from fencepost.pipelines.pipeline import Pipeline
from fencepost.pipelines.run_options import RunOptions
from fencepost.pipelines.stage import Stage, Target
from fencepost.spark.sink.errors import SinkEvent
from fencepost.types import TopicPartition
from tests.behaviour_client.reading import wait_for_markers

EXAMPLES = Path(__file__).parents[3] / "examples" / "pipelines"
TIMEOUT_S = 900
NOT_CALLED_BACK = "Python worker failed to connect back"
Row = tuple[bytes | None, bytes | None]


def example(name: str) -> list[Pipeline]:
    return load_pipelines(str(EXAMPLES / f"{name}.py"))


def one(name: str) -> Pipeline:
    return next(pipeline for pipeline in example(name) if pipeline.name == name)


def as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def create(servers: str, *topics: str, partitions: int = 3) -> None:
    with Admin(servers) as admin:
        for topic in topics:
            admin.create_topic(topic, partitions)


def write(servers: str, topic: str, rows: Iterable[Row]) -> None:
    with Producer(servers) as producer:
        for key, value in rows:
            producer.send(topic, key=key, value=value)


def read(servers: str, topic: str) -> list[Row]:
    """Everything committed, in the order of partitions and offsets; Kafka's markers are waited for."""
    wait_for_markers(servers, topic)
    table = read_arrow(servers, topic)
    return list(zip(table["key"].to_pylist(), table["value"].to_pylist(), strict=True))


def read_headers(servers: str, topic: str) -> list[dict[str, bytes]]:
    headers = read_arrow(servers, topic, include_headers=True)["headers"].to_pylist()
    return [{header["key"]: header["value"] for header in row} for row in headers]


def lag(servers: str, topic: str, group_id: str) -> int:
    with Admin(servers) as admin:
        partitions = [TopicPartition(topic, index) for index in admin.describe_topics([topic])[topic].partitions]
        ends = admin.latest_offsets(partitions, read_committed=True)
        committed = admin.group_offsets(group_id)
        return sum(end - committed[where].offset if where in committed else end for where, end in ends.items())


class Drained:
    """One pipeline, run until it has read what is there: its stage and what the sink told."""

    def __init__(
        self, spark: SparkSession, pipeline: Pipeline, servers: str, checkpoint: Path, options: RunOptions | None = None
    ) -> None:
        self.events: list[SinkEvent] = []
        self.stage = Stage(
            spark,
            pipeline,
            target=Target(servers, str(checkpoint)),
            options=options or RunOptions(),
            on_event=self.events.append,
        )
        try:
            while not self._reaches_its_end():
                self.stage.forget()
        finally:
            self.stage.stop(timeout_s=1)

    def _reaches_its_end(self) -> bool:
        """False if Spark's Python process did not call back within the ten seconds that it has: start again, as a run
        does.
        """
        self.stage.start(available_now=True)
        assert self.stage.query is not None
        try:
            assert self.stage.query.awaitTermination(TIMEOUT_S), "the pipeline did not come to its end in time"
        except StreamingQueryException as problem:
            if NOT_CALLED_BACK not in str(problem):
                raise
            return False
        return True

    @property
    def row_count(self) -> int:
        return sum(event.row_count for event in self.events)
