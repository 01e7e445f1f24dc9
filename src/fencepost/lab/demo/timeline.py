"""What happened when, as values: lanes with spans and kills, curves of counts, the sentences of the story; and where
two of them come from, the transactions of the log and a reader that counts.
"""

import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from fencepost.client import Admin, Consumer, TopicPartition
from fencepost.client.admin.inspecting import InspectedBatch, inspect_batches
from fencepost.client.time_limits import Deadline
from fencepost.types import OffsetRange

POLL_S = 0.3
EVERYTHING = OffsetRange(0, 2**63 - 1)
READ_TIMEOUT_S = 60.0


class SpanKind(StrEnum):
    UP = "up"
    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass(frozen=True)
class Span:
    start_s: float
    end_s: float
    kind: SpanKind
    label: str


@dataclass
class Lane:
    """A process that lives and is killed, or the transactions of a pipeline."""

    name: str
    spans: list[Span] = field(default_factory=list)
    kills_s: list[float] = field(default_factory=list)


@dataclass
class Curve:
    """How many records there were by when; it only grows."""

    name: str
    points: list[tuple[float, int]] = field(default_factory=list)


@dataclass
class Timeline:
    lanes: list[Lane] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    words: list[tuple[float, str]] = field(default_factory=list)

    @property
    def end_s(self) -> float:
        ends = [span.end_s for lane in self.lanes for span in lane.spans]
        ends += [at_s for curve in self.curves for at_s, _ in curve.points]
        ends += [at_s for at_s, _ in self.words]
        return max(ends, default=0.0)


class Watcher:
    """A thread with a `read_committed` reader that counts what it sees, as it sees it: the curve of what is visible. It
    outlives a broker that is killed.
    """

    def __init__(self, bootstrap_servers: str, topic: str, *, name: str, started_s: float) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._topic = topic
        self._started_s = started_s
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"reader of {topic}", daemon=True)
        self.curve = Curve(name)

    @property
    def seen(self) -> int:
        return self.curve.points[-1][1] if self.curve.points else 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_stopping.set()
        self._thread.join()

    def _run(self) -> None:
        with Consumer(self._bootstrap_servers, auto_offset_reset="earliest") as consumer:
            consumer.assign(consumer.partitions_for(self._topic))
            while not self._is_stopping.is_set():
                rows = consumer.poll_arrow(timeout=POLL_S).num_rows
                if rows:
                    self.curve.points.append((time.monotonic() - self._started_s, self.seen + rows))


class Part(NamedTuple):
    """What a transaction did on one partition."""

    transaction: tuple[int, int, int]
    """Producer id, epoch and time of its marker: the same on all partitions."""
    began_ms: int
    is_commit: bool
    record_count: int


def transactions_lane(bootstrap_servers: str, topics: Iterable[str], *, started_ms: float) -> Lane:
    """One span per transaction as the log has it, from its first batch to its marker, whatever partitions it touched;
    its label says how many records it had.
    """
    found: dict[tuple[int, int, int], list[Part]] = {}
    with Admin(bootstrap_servers) as admin:
        for name, topic in admin.describe_topics(list(topics)).items():
            for number in range(topic.partition_count):
                partition = TopicPartition(name, number)
                batches = inspect_batches(admin.cluster, partition, EVERYTHING, deadline=Deadline(READ_TIMEOUT_S))
                for part in parts_of(batches):
                    found.setdefault(part.transaction, []).append(part)
    spans = [_span(transaction[2], parts, started_ms) for transaction, parts in found.items()]
    return Lane("transactions", sorted(spans, key=lambda span: span.start_s))


def parts_of(batches: Iterable[InspectedBatch]) -> Iterator[Part]:
    """The transactions that ended on one partition."""
    began_ms: dict[int, int] = {}
    record_counts: dict[int, int] = {}
    for batch in batches:
        producer_id, marker = batch.header.producer_id, batch.marker
        if marker is None:
            began_ms.setdefault(producer_id, batch.header.base_timestamp)
            record_counts[producer_id] = record_counts.get(producer_id, 0) + batch.header.record_count
        elif producer_id in began_ms:
            transaction = (producer_id, marker.producer_epoch, marker.timestamp_ms)
            yield Part(transaction, began_ms.pop(producer_id), marker.is_commit, record_counts.pop(producer_id))


def _span(ended_ms: int, parts: list[Part], started_ms: float) -> Span:
    kind = SpanKind.COMMITTED if parts[0].is_commit else SpanKind.ABORTED
    began_ms = min(part.began_ms for part in parts)
    record_count = sum(part.record_count for part in parts)
    return Span(
        (began_ms - started_ms) / 1000, (ended_ms - started_ms) / 1000, kind, f"{record_count:,} records, {kind}"
    )
