"""The sink's protocol without a Spark session: batches that are pinned by hand, and stories of fail-points."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

import pyarrow as pa
import pytest

from fencepost.client.values import ProducerIdentity
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.spark.sink import writer as writer_module
from fencepost.spark.sink.encode import ENCODED_SCHEMA
from fencepost.spark.sink.pinning import DriverPinned, Pinned
from fencepost.spark.sink.publish import Publisher
from fencepost.spark.sink.token import BatchToken
from fencepost.spark.sink.work import BatchWork, MicroBatchWork
from fencepost.spark.sink.writer import Plan
from fencepost.types import TopicPartition


def pinned(topic: str, values: Iterable[bytes]) -> DriverPinned:
    batch = build_batch([Record(-1, 1, b"k", value, ()) for value in values])
    row = dict.fromkeys(ENCODED_SCHEMA.names) | {
        "topic": topic,
        "partition": 0,
        "slot": 0,
        "task": 0,
        "place": 0,
        "records": len(list(values)),
        "size": len(batch),
        "batch": bytes(batch),
    }
    return DriverPinned(pa.Table.from_pylist([row], schema=ENCODED_SCHEMA))


def plan(token: str, topic: str, values: Iterable[bytes]) -> Plan:
    """Of a batch DataFrame with this token."""
    kept = list(values)
    work = BatchWork(given_token=token, writer=token)
    return Plan(work=work, pin=lambda: pinned(topic, kept), topics=[topic])


def micro_batch(topic: str, values: Iterable[bytes], offsets: dict[TopicPartition, int]) -> Plan:
    """A query's first, which has read its sources to these offsets."""
    kept = list(values)
    token = BatchToken(sink="s", query_id="q", run_id="r", writer="w", batch_id=0, start=None, end=({},))
    work = MicroBatchWork(planned=token, may_adopt=False, offsets=offsets)
    return Plan(work=work, pin=lambda: pinned(topic, kept), topics=[topic])


class Unlucky:
    """A pin that fails to publish, once in all that is pinned for its plan."""

    mode = "driver"

    def __init__(self, given: Pinned, problems: list[Exception]) -> None:
        self._given, self._problems = given, problems
        self.manifest = given.manifest

    def publish(self, identity: ProducerIdentity, publisher: Publisher, *, timeout_s: float) -> Counter[TopicPartition]:
        if self._problems:
            raise self._problems.pop()
        return self._given.publish(identity, publisher, timeout_s=timeout_s)

    def release(self) -> None:
        self._given.release()


def unlucky(given: Plan, problem: Exception) -> Plan:
    problems = [problem]
    return replace(given, pin=lambda: Unlucky(given.pin(), problems))


def at_first(monkeypatch: pytest.MonkeyPatch, name: str, then: Callable[[], None]) -> None:
    """Do something when the writer comes by this fail-point for the first time."""
    todo = [then]
    passed = writer_module.fail_point

    def look(point: str) -> None:
        if point == name and todo:
            todo.pop()()
        passed(point)

    monkeypatch.setattr(writer_module, "fail_point", look)
