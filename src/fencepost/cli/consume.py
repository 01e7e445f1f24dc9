"""`fencepost consume`: records of a topic, between two places, or as they come.

Plain reading is that of a consumer. With --markers, --aborted or --open the batches themselves are looked at.
"""

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from fencepost.cli.arguments import (
    DURATION,
    PLACE,
    Place,
    PlaceKind,
    complete_groups,
    complete_topics,
    partitions_of,
    resolve,
)
from fencepost.cli.options import ClusterAccess, connection_options
from fencepost.cli.output import counted, json_option, say
from fencepost.cli.record_text import Show, ShownRecord, choose_format
from fencepost.client.admin.admin import Admin
from fencepost.client.admin.inspecting import InspectedBatch, Outcome, inspect_batches
from fencepost.client.time_limits import Deadline
from fencepost.records import reader
from fencepost.records.record import Record
from fencepost.types import OffsetRange, TopicPartition

if TYPE_CHECKING:
    from fencepost.client.consumer.consumer import Consumer
    from fencepost.client.consumer.record import ConsumerRecord


ISOLATION_LEVELS = ("read_committed", "read_uncommitted")
POLL_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to read: options of the command, by the same names."""

    topic: str
    partitions: tuple[int, ...]
    start: Place
    end: Place | None
    """None: the end as it is at this moment, or with `follows` no end."""
    follows: bool
    isolation_level: str
    group_id: str | None
    max_records: int | None
    idle_timeout_ms: int | None
    statuses: frozenset[str]
    """Beside what a reader of this isolation level gets: marker, aborted, open."""

    def is_patient(self, last_record_s: float) -> bool:
        """Whether to go on waiting, with the last record at that moment of the monotonic clock."""
        return self.idle_timeout_ms is None or time.monotonic() - last_record_s <= self.idle_timeout_ms / 1000

    @property
    def is_read_committed(self) -> bool:
        return self.isolation_level == "read_committed"


class Printer:
    """Prints until enough is printed."""

    def __init__(self, show: Show, max_records: int | None) -> None:
        self._show = show
        self._max_records = max_records
        self.count = 0

    @property
    def has_enough(self) -> bool:
        return self._max_records is not None and self.count >= self._max_records

    def print(self, records: Iterable[ShownRecord]) -> None:
        for record in records:
            if self.has_enough:
                break
            sys.stdout.buffer.write(self._show(record))
            self.count += 1
        sys.stdout.buffer.flush()


def shown(
    topic_partition: TopicPartition, record: "Record | ConsumerRecord", batch: InspectedBatch | None = None
) -> ShownRecord:
    """With the batch that it comes from, its status too."""
    found = ShownRecord(*topic_partition, record.offset, record.timestamp_ms, record.key, record.value, record.headers)
    if batch is None:
        return found
    return found._replace(
        status=batch.outcome.value,
        producer_id=batch.header.producer_id,
        producer_epoch=batch.header.producer_epoch,
        marker=batch.marker,
    )


@click.command("consume")
@click.argument("topic", shell_complete=complete_topics)
@click.option("-p", "--partition", "partitions", multiple=True, type=click.IntRange(min=0), help="Only these.")
@click.option("--from", "start", type=PLACE, default="earliest", show_default=True, help="Where to begin.")
@click.option("--to", "end", type=PLACE, help="Where to stop, itself not printed; the end as it is now.")
@click.option("-F", "--follow", "follows", is_flag=True, help="Go on with what comes, until Ctrl-C.")
@click.option("-n", "--max-records", type=click.IntRange(min=1), help="Stop after so many.")
@click.option("--timeout", "idle_timeout_ms", type=DURATION, help="Stop when nothing came for so long (10s, 5m).")
@click.option(
    "-i", "--isolation-level", type=click.Choice(ISOLATION_LEVELS), default="read_committed", show_default=True
)
@click.option(
    "-g", "--group", "group_id", shell_complete=complete_groups, help="Read as a member; commits what it printed."
)
@click.option("--markers", is_flag=True, help="Show commit and abort markers.")
@click.option("--aborted", is_flag=True, help="Show aborted records, marked as such.")
@click.option("--open", "shows_open", is_flag=True, help="Show records of open transactions, marked as such.")
@click.option("-f", "--format", "format_", metavar="FORMAT", help="value, pair, line or a template.")
@json_option
@connection_options
def command(
    markers: bool,
    aborted: bool,
    shows_open: bool,
    format_: str | None,
    as_json: bool,
    connection: ClusterAccess,
    **wanted_fields: Any,
) -> None:
    """Print the records of TOPIC, from the beginning to the end as it is now, or as they come with --follow.

    A place is earliest, latest, an offset, -N (N before the end), a time (2026-11-15T09:00) or a duration ago (10m).
    FORMAT is value (the bytes, a line each), pair (key, tab, value), line (all of it), or a template of {topic}
    {partition} {offset} {key} {value} {headers} {timestamp} {time} {status}.

    \b
    Examples:
      fencepost consume purchases
      fencepost consume purchases --from -5 --format line
      fencepost consume purchases --partition 0 --from 0 --to 3 --json
      fencepost consume purchases --from 1h -n 2 -f '{time} {key} {value}'
      fencepost consume purchases --markers --aborted --open
      fencepost consume purchases --group billing
      fencepost consume purchases --follow --from latest --timeout 1s
    """
    statuses = {"marker": markers, "aborted": aborted, "open": shows_open}
    wanted = Wanted(**wanted_fields, statuses=frozenset(name for name, is_shown in statuses.items() if is_shown))
    check_together(wanted)
    chosen = format_ or ("line" if wanted.statuses else "value")
    printer = Printer(choose_format(chosen, as_json=as_json), wanted.max_records)
    read = read_batches if wanted.statuses else read_records
    read(connection, wanted, printer)
    if sys.stderr.isatty():
        say(counted(printer.count, "record"))


def check_together(wanted: Wanted) -> None:
    if wanted.group_id is None:
        return
    if wanted.statuses:
        raise click.UsageError("--group does not go with --markers, --aborted or --open: a member never gets those")
    if wanted.partitions or wanted.end is not None:
        raise click.UsageError("--group does not go with --partition or --to: the group says what is read")
    if wanted.start.kind not in (PlaceKind.EARLIEST, PlaceKind.LATEST):
        raise click.UsageError("--group starts at its committed offsets; for want of one --from is earliest or latest")


# Reading with what readers do not get: markers, aborted records, records of open transactions, each with its status.
#
# Following goes up to the last stable offset, where everything is decided, or with --open or read_uncommitted to the
# end: a record that is printed as open may commit later.


PATIENCE_S = 600.0


def read_batches(connection: ClusterAccess, wanted: Wanted, printer: Printer) -> None:
    read_committed = wanted.is_read_committed and "open" not in wanted.statuses
    with connection.admin() as admin:
        partitions = partitions_of(admin, wanted.topic, wanted.partitions)
        positions = resolve(admin, partitions, wanted.start, read_committed=read_committed)
        ends = resolve(admin, partitions, wanted.end or Place(PlaceKind.LATEST), read_committed=read_committed)
        last_record_s = time.monotonic()
        while True:
            before = printer.count
            for each in partitions:
                printer.print(shown_records(admin, each, OffsetRange(positions[each], ends[each]), wanted))
                positions[each] = max(positions[each], ends[each])
            if not wanted.follows or wanted.end is not None or printer.has_enough:
                return
            if printer.count > before:
                last_record_s = time.monotonic()
            elif not wanted.is_patient(last_record_s):
                return
            time.sleep(POLL_S)
            ends = admin.latest_offsets(partitions, read_committed=read_committed)


def shown_records(
    admin: Admin, topic_partition: TopicPartition, offsets: OffsetRange, wanted: Wanted
) -> Iterator[ShownRecord]:
    if not len(offsets):
        return
    for batch in inspect_batches(admin.cluster, topic_partition, offsets, deadline=Deadline(PATIENCE_S)):
        if is_wanted(batch.outcome, wanted):
            records = [record for record in reader.read_records(batch.batch) if record.offset in offsets]
            yield from (shown(topic_partition, record, batch) for record in records)


def is_wanted(outcome: Outcome, wanted: Wanted) -> bool:
    if outcome is Outcome.MARKER:
        return "marker" in wanted.statuses
    if outcome in (Outcome.PLAIN, Outcome.COMMITTED) or not wanted.is_read_committed:
        return True
    return outcome.value in wanted.statuses


# Reading as every consumer does: chosen partitions between two places, or what a group assigns.


BATCH = 5000

Ends = dict[TopicPartition, int]


def read_records(connection: ClusterAccess, wanted: Wanted, printer: Printer) -> None:
    if wanted.group_id is not None:
        _read_as_member(connection, wanted, printer)
        return
    with connection.admin() as admin:
        partitions = partitions_of(admin, wanted.topic, wanted.partitions)
        starts = resolve(admin, partitions, wanted.start, read_committed=wanted.is_read_committed)
        ends: Ends | None = None
        if not wanted.follows or wanted.end is not None:
            end = wanted.end or Place(PlaceKind.LATEST)
            ends = resolve(admin, partitions, end, read_committed=wanted.is_read_committed)
            partitions = [each for each in partitions if starts[each] < ends[each]]
    if not partitions:
        return
    with connection.consumer(isolation_level=wanted.isolation_level, auto_offset_reset="earliest") as consumer:
        consumer.assign(partitions)
        for each in partitions:
            consumer.seek(each, starts[each])
        _print_until(consumer, ends, wanted, printer)


def _read_as_member(connection: ClusterAccess, wanted: Wanted, printer: Printer) -> None:
    """Commits what was printed, whatever ends the reading."""
    with connection.admin() as admin:
        partitions_of(admin, wanted.topic)
    reset = wanted.start.kind.name.lower()
    with connection.consumer(
        topics=[wanted.topic],
        group_id=wanted.group_id,
        isolation_level=wanted.isolation_level,
        auto_offset_reset=reset,
    ) as consumer:
        try:
            _print_until(consumer, None if wanted.follows else {}, wanted, printer)
        finally:
            if consumed := consumer.consumed_offsets():
                consumer.commit_sync(consumed)


def _print_until(consumer: "Consumer", ends: Ends | None, wanted: Wanted, printer: Printer) -> None:
    """To `ends`, which grow with what a group assigns; without them for ever, or until nothing comes any more."""
    is_member = wanted.group_id is not None
    last_record_s = time.monotonic()
    while not printer.has_enough:
        left = None if wanted.max_records is None else wanted.max_records - printer.count
        records = consumer.poll(POLL_S, max_records=BATCH if left is None else min(BATCH, left))
        if ends is not None and is_member:
            unknown = [each for each in consumer.assignment() if each not in ends]
            ends.update(consumer.end_offsets(unknown) if unknown else {})
        if records:
            last_record_s = time.monotonic()
            # A member commits all that it was handed, so it prints all of that.
            printer.print(
                shown(record.topic_partition, record)
                for record in records
                if is_member or ends is None or record.offset < ends[record.topic_partition]
            )
        elif not wanted.is_patient(last_record_s):
            return
        if ends and all(consumer.position(each) >= ends[each] for each in consumer.assignment()):
            return
