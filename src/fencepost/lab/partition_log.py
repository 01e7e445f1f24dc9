"""The end of a partition's log as a value, for notebooks: every record and marker, what became of it, and who gets it.

`read_log(bootstrap_servers, "invoices")` asks any Kafka cluster: the batches are fetched as they lie there, and two
consumers, one of each isolation level, read the same offsets, so that what a reader gets is seen and not worked out.
In a notebook the value shows itself as a picture (`log_picture.py`), elsewhere as a table. The calls follow each
other: it is a picture of one moment only if nobody writes meanwhile.
"""

from dataclasses import dataclass
from typing import NamedTuple

from fencepost.client.admin import Admin
from fencepost.client.admin_inspecting import InspectedBatch, Outcome, inspect_batches
from fencepost.client.consumer import Consumer
from fencepost.client.exceptions import Timeout, UnknownTopicOrPartition
from fencepost.client.time_limits import Deadline
from fencepost.client.values import NO_IDENTITY, ProducerIdentity
from fencepost.records.reader import read_records
from fencepost.types import OffsetRange, TopicPartition

OFFSETS_SHOWN_MAX = 24
TIMEOUT_S = 60.0
POLL_S = 0.5
READ_COMMITTED = "read_committed"
READ_UNCOMMITTED = "read_uncommitted"


class Cell(NamedTuple):
    """One offset of a log."""

    offset: int
    outcome: Outcome
    text: str
    """The record's value, or COMMIT or ABORT."""
    identity: ProducerIdentity = NO_IDENTITY


@dataclass(frozen=True)
class PartitionLog:
    topic_partition: TopicPartition
    cells: tuple[Cell, ...]
    last_stable_offset: int
    high_watermark: int
    handed_out: dict[str, frozenset[int]]
    """Isolation level -> the offsets that a consumer with it was given."""

    @property
    def positions_text(self) -> str:
        return f"last stable offset {self.last_stable_offset}, high watermark {self.high_watermark}"

    def __repr__(self) -> str:
        headings = ["offset", "what", "value", "producer", *self.handed_out]
        rows = [[str(cell.offset), cell.outcome.value, *_words(cell), *self._marks(cell)] for cell in self.cells]
        widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in [headings, *rows]
        ]
        return "\n".join([f"{self.topic_partition}: {self.positions_text}", *lines])

    def _marks(self, cell: Cell) -> list[str]:
        return ["yes" if cell.offset in offsets else "-" for offsets in self.handed_out.values()]

    def _repr_svg_(self) -> str:
        from fencepost.lab.log_picture import draw_log

        return draw_log(self)


def read_log(
    bootstrap_servers: str, topic: str, partition: int = 0, *, offsets_max: int = OFFSETS_SHOWN_MAX
) -> PartitionLog:
    """The last `offsets_max` offsets of a partition, or as many as there are."""
    where = TopicPartition(topic, partition)
    with Admin(bootstrap_servers) as admin:
        if partition not in (there := admin.describe_topics([topic])[topic].partitions):
            raise UnknownTopicOrPartition(f"topic '{topic}' has partitions 0 to {max(there)}, not {partition}")
        start_offset = admin.earliest_offsets([where])[where]
        last_stable_offset = admin.latest_offsets([where], read_committed=True)[where]
        high_watermark = admin.latest_offsets([where])[where]
        shown = OffsetRange(max(start_offset, high_watermark - offsets_max), high_watermark)
        cells = [
            cell
            for batch in inspect_batches(admin.cluster, where, shown, deadline=Deadline(TIMEOUT_S))
            for cell in _cells(batch)
            if cell.offset in shown
        ]
    return PartitionLog(
        where,
        tuple(cells),
        last_stable_offset,
        high_watermark,
        {
            READ_COMMITTED: _handed_out(
                bootstrap_servers, where, OffsetRange(shown.start_offset, last_stable_offset), READ_COMMITTED
            ),
            READ_UNCOMMITTED: _handed_out(bootstrap_servers, where, shown, READ_UNCOMMITTED),
        },
    )


def _cells(batch: InspectedBatch) -> list[Cell]:
    identity = ProducerIdentity(batch.header.producer_id, batch.header.producer_epoch)
    if batch.marker is not None:
        kind = "COMMIT" if batch.marker.is_commit else "ABORT"
        return [Cell(batch.header.base_offset, batch.outcome, kind, identity)]
    return [Cell(record.offset, batch.outcome, _text(record.value), identity) for record in read_records(batch.batch)]


def _handed_out(
    bootstrap_servers: str, where: TopicPartition, offsets: OffsetRange, isolation_level: str
) -> frozenset[int]:
    """What a consumer gets until it stands at the end of the range."""
    deadline = Deadline(TIMEOUT_S)
    found: set[int] = set()
    with Consumer(bootstrap_servers, isolation_level=isolation_level) as consumer:
        consumer.assign([where])
        consumer.seek(where, offsets.start_offset)
        while consumer.position(where) < offsets.end_offset:
            if deadline.has_passed:
                raise Timeout(f"{where}: reading up to offset {offsets.end_offset} took more than {TIMEOUT_S:.0f} s")
            found.update(record.offset for record in consumer.poll(POLL_S) if record.offset in offsets)
    return frozenset(found)


def _words(cell: Cell) -> list[str]:
    producer = "-" if cell.identity == NO_IDENTITY else f"{cell.identity.producer_id}:{cell.identity.producer_epoch}"
    return [cell.text, producer]


def _text(value: bytes | None) -> str:
    return "null" if value is None else value.decode("utf-8", "backslashreplace")
