"""`fencepost produce`: records from standard input or files to a topic, in one transaction if asked."""

import secrets
import sys
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import click

from fencepost.cli.arguments import complete_topics
from fencepost.cli.options import ClusterAccess, connection_options
from fencepost.cli.output import counted, json_option, print_json, say
from fencepost.cli.record_text import InputFormat, InputOptions, OutgoingRecord, parse_headers, read_records
from fencepost.client.producer.delivery import RecordFuture
from fencepost.client.producer.producer import Producer
from fencepost.records.record import Headers


@dataclass(slots=True)
class Stored:
    """What was acknowledged: for each partition the first offset, the last, and how many."""

    partitions: dict[int, list[int]] = field(default_factory=dict)

    def add(self, partition: int, offset: int) -> None:
        row = self.partitions.setdefault(partition, [offset, offset, 0])
        row[1] = max(row[1], offset)
        row[2] += 1

    @property
    def count(self) -> int:
        return sum(count for _, _, count in self.partitions.values())

    def as_json(self) -> list[dict[str, int]]:
        names = ("partition", "first_offset", "last_offset", "records")
        return [dict(zip(names, (index, *row), strict=True)) for index, row in sorted(self.partitions.items())]


@click.command("produce")
@click.argument("topic", shell_complete=complete_topics)
@click.argument("files", nargs=-1, type=click.File("rb"), metavar="[FILE...]")
@click.option(
    "-f",
    "--format",
    "input_format",
    type=click.Choice([str(each) for each in InputFormat]),
    default="lines",
    show_default=True,
    help="lines: a record each; json: as consume --json prints them; files: each file is one record.",
)
@click.option("-k", "--key", help="The key of every record that brings none.")
@click.option("-s", "--key-separator", metavar="TEXT", help="A line is a key, this, and a value.")
@click.option("--null", "null_text", metavar="TEXT", help="A key or value that reads like this is null.")
@click.option("-H", "--header", "headers", multiple=True, metavar="NAME=VALUE", help="A header; may be repeated.")
@click.option("-p", "--partition", type=click.IntRange(min=0), help="Where all go; otherwise their keys say.")
@click.option("-t", "--transaction", is_flag=True, help="All of it in one transaction.")
@click.option("--transactional-id", metavar="ID", help="The same, under this id: fences another producer with it.")
@click.option("--abort", "ending", flag_value="abort", help="Abort the transaction at the end, on purpose.")
@click.option("--leave-open", "ending", flag_value="leave-open", help="Leave it open, on purpose: readers wait.")
@json_option
@connection_options
def command(
    topic: str,
    files: tuple[BinaryIO, ...],
    input_format: str,
    key: str | None,
    key_separator: str | None,
    null_text: str | None,
    headers: tuple[str, ...],
    partition: int | None,
    transaction: bool,
    transactional_id: str | None,
    ending: str | None,
    as_json: bool,
    connection: ClusterAccess,
) -> None:
    """Write records to TOPIC, from files or standard input; returns when all are stored.

    A transaction makes all of them visible at once, or none: --abort and --leave-open show what readers see then
    (`fencepost consume --aborted`, `fencepost txn blockers`).

    \b
    Examples:
      echo hello | fencepost produce purchases
      printf '7:two shirts\\n8:a hat\\n' | fencepost produce purchases -s :
      echo '{"key": "9", "value": "hat"}' | fencepost produce purchases -f json
      echo socks | fencepost produce purchases --key 9 --header source=shop
      seq 100 | fencepost produce purchases --transaction
      echo never | fencepost produce purchases --transactional-id shop-1 --abort
    """
    options = InputOptions(InputFormat(input_format), _encoded(key_separator), _encoded(null_text))
    defaults = OutgoingRecord(_encoded(key), None, parse_headers(headers), partition)
    is_transactional = transaction or transactional_id is not None or ending is not None
    if is_transactional and not transactional_id:
        transactional_id = f"fencepost-produce-{secrets.token_hex(4)}"
    records = (filled(record, defaults) for record in read_records(files or (_standard_input(),), options))
    with connection.admin() as admin:
        admin.describe_topics([topic])
        outcome = run(connection, topic, records, transactional_id=transactional_id, ending=ending or "commit")
        if transactional_id is not None and ending != "leave-open":
            # Kafka answers once the end is decided; what is said of readers is true when the markers are written.
            admin.await_transaction_end(transactional_id)
    if as_json:
        print_json(outcome)
    else:
        say(in_words(outcome))


def run(
    connection: ClusterAccess,
    topic: str,
    records: Iterable[OutgoingRecord],
    *,
    transactional_id: str | None,
    ending: str,
) -> dict[str, Any]:
    transaction = None
    is_left_open = False
    producer = connection.producer(transactional_id=transactional_id)
    try:
        if transactional_id is not None:
            producer.init_transactions()
            producer.begin_transaction()
        stored = send_all(producer, topic, records)
        if transactional_id is not None:
            identity = producer.identity._asdict() if producer.identity else {}
            transaction = {"transactional_id": transactional_id, "outcome": ending, **identity}
            if ending == "abort":
                producer.abort_transaction()
            elif ending == "commit":
                producer.commit_transaction()
            else:
                is_left_open = True
    finally:
        if not is_left_open:
            # Closing within a transaction aborts it.
            producer.close()
    return {"topic": topic, "records": stored.count, "partitions": stored.as_json(), "transaction": transaction}


def send_all(producer: Producer, topic: str, records: Iterable[OutgoingRecord]) -> Stored:
    """Send, and wait for every acknowledgement; the first failure is raised."""
    stored = Stored()
    waiting: deque[RecordFuture] = deque()
    for record in records:
        waiting.append(
            producer.send(
                topic,
                value=record.value,
                key=record.key,
                partition=record.partition,
                headers=record.headers,
                timestamp_ms=record.timestamp_ms,
            )
        )
        while waiting and waiting[0].done():
            _take(waiting, stored)
    producer.flush()
    while waiting:
        _take(waiting, stored)
    return stored


def _take(waiting: "deque[RecordFuture]", stored: Stored) -> None:
    metadata = waiting.popleft().result()
    stored.add(metadata.partition, metadata.offset)


def filled(record: OutgoingRecord, defaults: OutgoingRecord) -> OutgoingRecord:
    """What a record does not bring itself, the options give."""
    headers: Headers = (*record.headers, *defaults.headers)
    return record._replace(
        key=defaults.key if record.key is None else record.key,
        partition=record.partition if defaults.partition is None else defaults.partition,
        headers=headers,
    )


OUTCOME_WORDS = {
    "commit": "committed: all of it is visible",
    "abort": "aborted: no read_committed reader will see it",
    "leave-open": "left open: readers wait at it until it times out, or `fencepost txn abort {transactional_id}`",
}


def in_words(outcome: dict[str, Any]) -> str:
    places = ", ".join(
        f"partition {row['partition']} offsets {row['first_offset']} to {row['last_offset']}"
        for row in outcome["partitions"]
    )
    said = f"{counted(outcome['records'], 'record')} to {outcome['topic']}" + (f": {places}" if places else "")
    transaction = outcome["transaction"]
    if transaction is None:
        return said
    how = OUTCOME_WORDS[transaction["outcome"]].format(**transaction)
    return f"{said}\ntransaction of '{transaction['transactional_id']}' {how}"


def _standard_input() -> BinaryIO:
    if sys.stdin.isatty():
        say("One record a line; Ctrl-D ends.")
    return sys.stdin.buffer


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
