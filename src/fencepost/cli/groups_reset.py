"""`fencepost groups reset`: set committed offsets, with what that means for each partition shown first."""

from collections.abc import Iterable

import click

from fencepost.cli.connection import Connection, connection_options
from fencepost.cli.failures import Failure
from fencepost.cli.names import complete_groups, complete_topics
from fencepost.cli.output import confirm, json_option, print_json, print_table
from fencepost.cli.places import Place, PlaceType, partitions_of, resolve
from fencepost.client.admin import Admin
from fencepost.types import TopicPartition


@click.command("reset")
@click.argument("group_id", metavar="GROUP", shell_complete=complete_groups)
@click.option("--to", "place", type=PlaceType(), required=True, help="Where to set it.")
@click.option("--topic", "topics", multiple=True, shell_complete=complete_topics, help="Only these; may be repeated.")
@click.option(
    "-p", "--partition", "partitions", multiple=True, type=click.IntRange(min=0), help="Only these of one topic."
)
@click.option("-y", "--yes", "is_sure", is_flag=True, help="Do not ask.")
@json_option
@connection_options
def command(
    group_id: str,
    place: Place,
    topics: tuple[str, ...],
    partitions: tuple[int, ...],
    is_sure: bool,
    as_json: bool,
    connection: Connection,
) -> None:
    """Set the committed offsets of GROUP, which may have no members meanwhile. Shows the change, and asks.

    A place is earliest, latest, an offset, -N (N before the end), a time (2026-11-15T09:00) or a duration ago (10m);
    each is moved into what the partition holds. Without --topic it is all that the group has committed.

    \b
    Examples:
      fencepost groups reset billing --to earliest
      fencepost groups reset billing --to 10m --topic purchases --yes
      fencepost groups reset billing --to -3 --topic purchases -p 0 --yes --json
    """
    if partitions and len(topics) != 1:
        raise click.UsageError("--partition goes with exactly one --topic")
    with connection.admin() as admin:
        committed = {where: row.offset for where, row in admin.group_offsets(group_id).items()}
        chosen = chosen_partitions(admin, committed, topics, partitions)
        if not chosen:
            raise Failure(f"group '{group_id}' has committed nothing: say what to set with --topic")
        targets = resolve(admin, chosen, place, read_committed=True)
        rows = [(str(where), committed.get(where), targets[where]) for where in chosen]
        if not as_json:
            cells = [(name, before, after, _moved(before, after)) for name, before, after in rows]
            print_table(["PARTITION", "COMMITTED", "WOULD BE", "MOVES BY"], cells, empty="")
        is_done = confirm(f"Set the offsets of '{group_id}'?", is_sure=is_sure)
        if is_done:
            refuse_members(admin, group_id)
            admin.alter_group_offsets(group_id, targets)
    if as_json:
        names = ("partition", "before", "after")
        changes = [dict(zip(names, row, strict=True)) for row in rows]
        print_json({"group_id": group_id, "is_done": is_done, "offsets": changes})
    elif is_done:
        click.echo(f"group {group_id} is set")


def chosen_partitions(
    admin: Admin, committed: Iterable[TopicPartition], topics: Iterable[str], partitions: Iterable[int]
) -> list[TopicPartition]:
    named = list(topics)
    if not named:
        return sorted(committed)
    return [where for topic in named for where in partitions_of(admin, topic, partitions)]


def refuse_members(admin: Admin, group_id: str) -> None:
    members = admin.describe_group(group_id).members
    if members:
        clients = ", ".join(sorted({f"{member.client_id} at {member.client_host}" for member in members}))
        raise Failure(f"group '{group_id}' has members ({clients}): stop them first, they would set it back")


def _moved(before: int | None, after: int) -> str | None:
    return None if before is None else f"{after - before:+d}"
