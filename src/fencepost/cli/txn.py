"""`fencepost txn`: transactions on any Kafka cluster."""

import click

from fencepost.cli.arguments import DURATION, format_duration, format_moment, now_ms
from fencepost.cli.main import LazyGroup
from fencepost.cli.options import ClusterAccess, connection_options
from fencepost.cli.output import Columns, Row, json_option, print_rows
from fencepost.client.admin.transactions import TransactionDescription

COMMANDS = {
    "list": ("fencepost.cli.txn:list_command", "List transactional ids and their states."),
    "describe": ("fencepost.cli.txn_describe", "The timeline of one transaction, step by step."),
    "blockers": ("fencepost.cli.txn_blockers:blockers", "Who holds readers back, since when, until when."),
    "abort": ("fencepost.cli.txn_blockers:abort_command", "Abort a transaction, after a preview."),
}
COLUMNS = {
    "TRANSACTIONAL ID": "transactional_id",
    "STATE": "state",
    "PRODUCER": "producer_id",
    "EPOCH": "producer_epoch",
}
OPEN_STATES = ("Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence")


@click.group("txn", cls=LazyGroup, commands=COMMANDS)
def command() -> None:
    """Transactions: which there are, what one did, who holds readers back, and how to end it."""


@click.command("list")
@click.option("--state", "states", multiple=True, help="Only in this state (Ongoing, Empty...); may be repeated.")
@click.option("--open", "only_open", is_flag=True, help="Only those with a transaction that has not ended.")
@click.option("--longer-than", type=DURATION, help="Only transactions open for longer than this (10m).")
@json_option
@connection_options
def list_command(
    states: tuple[str, ...], only_open: bool, longer_than: int | None, as_json: bool, connection: ClusterAccess
) -> None:
    """List transactional ids, with the age of what is open.

    \b
    Examples:
      fencepost txn list
      fencepost txn list --open --longer-than 10s --json
    """
    wanted = [*states, *(OPEN_STATES if only_open or longer_than is not None else ())]
    with connection.admin() as admin:
        found = admin.describe_transactions(states=wanted)
    at_ms = now_ms()
    rows = {row.transactional_id: row for row in found if longer_than is None or age_ms(row, at_ms) > longer_than}

    def open_for(document: Row) -> str | None:
        row = rows[document["transactional_id"]]
        return format_duration(age_ms(row, at_ms)) if row.state in OPEN_STATES else None

    columns: Columns = {**COLUMNS, "OPEN FOR": open_for}
    documents = [as_document(row) for row in rows.values()]
    print_rows(columns, documents, as_json=as_json, empty="There are no such transactional ids.")


def age_ms(row: TransactionDescription, at_ms: int) -> int:
    """How long the transaction has been open; 0 if none is."""
    return max(0, at_ms - row.start_time_ms) if row.state in OPEN_STATES and row.start_time_ms >= 0 else 0


def as_document(row: TransactionDescription) -> dict[str, object]:
    return {
        "transactional_id": row.transactional_id,
        "state": row.state,
        **row.identity._asdict(),
        "timeout_ms": row.timeout_ms,
        "start_time_ms": row.start_time_ms if row.start_time_ms >= 0 else None,
        "partitions": [*map(str, sorted(row.partitions))],
    }


def in_words(row: TransactionDescription) -> str:
    """The first lines about an id."""
    timeout = "never" if row.timeout_ms == 2**31 - 1 else format_duration(row.timeout_ms)
    lines = [f"transactional id {row.transactional_id}", f"{row.state}, {row.identity}, timeout {timeout}"]
    if row.state in OPEN_STATES:
        lines.append(f"open since {format_moment(row.start_time_ms)} ({format_duration(age_ms(row, now_ms()))})")
    return "\n".join(lines)
