"""The transactions of a pipeline as the log has them: from the first batch to the marker, committed or aborted."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fencepost.client import Admin, TopicPartition
from fencepost.client.admin_inspecting import InspectedBatch, inspect_batches
from fencepost.client.time_limits import Deadline
from fencepost.lab.demo.timeline import Lane, Span, SpanKind
from fencepost.types import OffsetRange

EVERYTHING = OffsetRange(0, 2**63 - 1)
READ_TIMEOUT_S = 60.0


class Part(NamedTuple):
    """What a transaction did on one partition."""

    transaction: tuple[int, int, int]
    """Producer id, epoch and time of its marker: the same on all partitions."""
    began_ms: int
    is_commit: bool
    record_count: int


def transactions_lane(bootstrap_servers: str, topics: Iterable[str], *, started_ms: float) -> Lane:
    """One span per transaction, whatever partitions it touched; its label says how many records it had."""
    found: dict[tuple[int, int, int], list[Part]] = {}
    with Admin(bootstrap_servers) as admin:
        for name, topic in admin.describe_topics(list(topics)).items():
            for number in range(topic.partition_count):
                where = TopicPartition(name, number)
                batches = inspect_batches(admin.cluster, where, EVERYTHING, deadline=Deadline(READ_TIMEOUT_S))
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
