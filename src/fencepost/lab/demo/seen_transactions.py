"""The transactions of a pipeline as the log has them: from the first batch to the marker, committed or aborted."""

from collections.abc import Iterable

from fencepost.client import Consumer
from fencepost.client.log_reading import read_log
from fencepost.lab.demo.timeline import Lane, Span, SpanKind
from fencepost.types import TopicPartition


def transactions_lane(bootstrap_servers: str, topics: Iterable[str], *, started_ms: float) -> Lane:
    """One span per transaction, whatever partitions it touched; its label says how many records it had."""
    with Consumer(bootstrap_servers) as consumer:
        partitions = [where for topic in topics for where in consumer.partitions_for(topic)]
    parts: dict[object, list[Span]] = {}
    counts: dict[object, int] = {}
    for where in partitions:
        for transaction, span, record_count in _parts(bootstrap_servers, where, started_ms):
            parts.setdefault(transaction, []).append(span)
            counts[transaction] = counts.get(transaction, 0) + record_count
    spans = [
        Span(
            min(span.start_s for span in found),
            max(span.end_s for span in found),
            found[0].kind,
            f"{counts[transaction]:,} records, {found[0].kind}",
        )
        for transaction, found in parts.items()
    ]
    return Lane("transactions", sorted(spans, key=lambda span: span.start_s))


def _parts(bootstrap_servers: str, where: TopicPartition, started_ms: float) -> Iterable[tuple[object, Span, int]]:
    """What each transaction did on one partition. Markers of one transaction carry the same identity and time."""
    open_since_ms: dict[int, int] = {}
    record_counts: dict[int, int] = {}
    for header, _, marker in read_log(bootstrap_servers, where):
        if marker is None:
            open_since_ms.setdefault(header.producer_id, header.base_timestamp)
            record_counts[header.producer_id] = record_counts.get(header.producer_id, 0) + header.record_count
        elif marker.producer_id in open_since_ms:
            began_s = (open_since_ms.pop(marker.producer_id) - started_ms) / 1000
            ended_s = (marker.timestamp_ms - started_ms) / 1000
            kind = SpanKind.COMMITTED if marker.is_commit else SpanKind.ABORTED
            transaction = (marker.producer_id, marker.producer_epoch, marker.timestamp_ms)
            yield transaction, Span(began_s, ended_s, kind, ""), record_counts.pop(marker.producer_id)
