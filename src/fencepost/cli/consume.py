"""`fencepost consume`: records of a topic, between two places, or as they come.

Plain reading is the consumer's own (`consume_records.py`). Who asks for markers, aborted or open records looks at the
batches themselves (`consume_batches.py`).
"""

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass

import click

from fencepost.cli.connection import Connection, connection_options
from fencepost.cli.moments import Duration
from fencepost.cli.names import complete_groups, complete_topics
from fencepost.cli.output import counted, json_option, say
from fencepost.cli.places import Place, PlaceKind, PlaceType
from fencepost.cli.record_output import Show, ShownRecord, choose_format

ISOLATION_LEVELS = ("read_committed", "read_uncommitted")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read."""

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


@click.command("consume")
@click.argument("topic", shell_complete=complete_topics)
@click.option("-p", "--partition", "partitions", multiple=True, type=click.IntRange(min=0), help="Only these.")
@click.option("--from", "start", type=PlaceType(), default="earliest", show_default=True, help="Where to begin.")
@click.option("--to", "end", type=PlaceType(), help="Where to stop, itself not printed; the end as it is now.")
@click.option("-F", "--follow", "follows", is_flag=True, help="Go on with what comes, until Ctrl-C.")
@click.option("-n", "--max-records", type=click.IntRange(min=1), help="Stop after so many.")
@click.option("--timeout", type=Duration(), help="Stop when nothing came for so long (10s, 5m).")
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
    topic: str,
    partitions: tuple[int, ...],
    start: Place,
    end: Place | None,
    follows: bool,
    max_records: int | None,
    timeout: int | None,
    isolation_level: str,
    group_id: str | None,
    markers: bool,
    aborted: bool,
    shows_open: bool,
    format_: str | None,
    as_json: bool,
    connection: Connection,
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
    wanted = Wanted(
        topic=topic,
        partitions=partitions,
        start=start,
        end=end,
        follows=follows,
        isolation_level=isolation_level,
        group_id=group_id,
        max_records=max_records,
        idle_timeout_ms=timeout,
        statuses=frozenset(name for name, is_shown in statuses.items() if is_shown),
    )
    check_together(wanted)
    chosen = format_ or ("line" if wanted.statuses else "value")
    printer = Printer(choose_format(chosen, as_json=as_json), max_records)
    if wanted.statuses:
        from fencepost.cli.consume_batches import read
    else:
        from fencepost.cli.consume_records import read
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
