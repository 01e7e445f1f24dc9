"""`fencepost txn describe`: one transaction over all partitions, as a timeline."""

import click

from fencepost.cli.connection import Connection, connection_options
from fencepost.cli.failures import Failure
from fencepost.cli.moments import format_clock, iso_moment
from fencepost.cli.names import complete_transactional_ids
from fencepost.cli.output import json_option, print_json, print_table, say
from fencepost.cli.txn import as_document, in_words
from fencepost.cli.txn_history import StateChange, read_history, split_transactions
from fencepost.cli.txn_timeline import Event, timeline
from fencepost.client.admin import Admin
from fencepost.client.admin_transactions import TransactionDescription
from fencepost.client.exceptions import Authorization
from fencepost.client.time_limits import Deadline

PATIENCE_S = 120.0


@click.command("describe")
@click.argument("transactional_id", metavar="TRANSACTIONAL_ID", shell_complete=complete_transactional_ids)
@click.option("--previous", type=click.IntRange(min=0), default=0, help="So many transactions before the last one.")
@click.option("--whole-log", is_flag=True, help="Look for records from the beginning of each partition.")
@json_option
@connection_options
def command(transactional_id: str, previous: int, whole_log: bool, as_json: bool, connection: Connection) -> None:
    """Show what the last transaction of an id did: log, records, offsets, markers, in order.

    STEP is the number that the documents' deep dive gives it: 1, 2 InitProducerId; 5 a partition is added; 6 records;
    7, 8 offsets; 9 the decision; 10 markers; 11 complete; 12 visible. What compaction has removed is not shown, nor
    records that were stamped more than a minute before the transaction began (--whole-log finds them).

    \b
    Examples:
      fencepost txn describe shop-0
      fencepost txn describe shop-0 --whole-log --json
    """
    deadline = Deadline(PATIENCE_S)
    with connection.admin() as admin:
        row = existing(admin, transactional_id)
        changes = chosen_changes(admin, transactional_id, previous, deadline)
        events = timeline(admin, changes, deadline=deadline, whole_log=whole_log) if changes else []
    if as_json:
        print_json({**as_document(row), "timeline": [event_document(event) for event in events]})
        return
    click.echo(f"{in_words(row)}\n")
    cells = [(event.step, format_clock(event.at_ms), event.place, event.what) for event in events]
    print_table(["STEP", "TIME", "WHERE", "WHAT"], cells, empty="It has had no transaction, as far as the log goes.")


def existing(admin: Admin, transactional_id: str) -> TransactionDescription:
    row = admin.describe_transaction(transactional_id)
    if row is None:
        raise Failure(f"no transactional id '{transactional_id}'. `fencepost txn list` shows those that there are.")
    return row


def chosen_changes(admin: Admin, transactional_id: str, previous: int, deadline: Deadline) -> list[StateChange]:
    try:
        transactions = split_transactions(read_history(admin, transactional_id, deadline=deadline))
    except Authorization as problem:
        say(f"The transaction log cannot be read, so there is no timeline: {problem}")
        return []
    if not transactions and previous == 0:
        return []
    if previous >= len(transactions):
        raise Failure(f"the log holds {len(transactions)} transactions of '{transactional_id}'")
    return transactions[-1 - previous]


def event_document(event: Event) -> dict[str, object]:
    return {
        "step": event.step,
        "time_ms": event.at_ms,
        "time": iso_moment(event.at_ms),
        "topic": event.where.topic,
        "partition": event.where.partition,
        "first_offset": event.first_offset if event.first_offset >= 0 else None,
        "last_offset": event.last_offset if event.last_offset >= 0 else None,
        "what": event.what,
    }
