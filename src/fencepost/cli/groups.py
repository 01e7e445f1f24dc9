"""`fencepost groups`: consumer groups, how far they are behind, where they stand, and where to set them."""

from collections.abc import Iterable, Mapping
from typing import Any

import click

from fencepost.cli.arguments import DURATION, PLACE, Place, complete_groups, complete_topics, partitions_of, resolve
from fencepost.cli.failures import Failure
from fencepost.cli.main import LazyGroup
from fencepost.cli.options import ClusterAccess, connection_options
from fencepost.cli.output import (
    Columns,
    confirm,
    json_option,
    print_json,
    print_rows,
    print_table,
    say,
    yes_option,
)
from fencepost.cli.txn_blockers import has_pending_offsets
from fencepost.client.admin.admin import Admin
from fencepost.client.admin.groups import GroupDescription
from fencepost.client.exceptions import ClientError, Timeout
from fencepost.client.offsets import count_records
from fencepost.client.time_limits import Deadline
from fencepost.errors import ErrorCode
from fencepost.types import OffsetRange, TopicPartition

COMMANDS = {
    "list": ("fencepost.cli.groups:list_command", "List the groups that there are."),
    "describe": ("fencepost.cli.groups:describe", "Members, offsets, and records still to be read."),
    "reset": ("fencepost.cli.groups:reset", "Set the offsets of a group, after a preview."),
    "delete": ("fencepost.cli.groups:delete", "Delete groups and their offsets."),
}
GROUP_COLUMNS = {"GROUP": "group_id", "STATE": "state", "TYPE": "type"}
COMMITTED_COLUMNS = {"GROUP": "group_id", "PARTITION": "partition", "COMMITTED": "committed_offset"}
MEMBER_COLUMNS: Columns = {
    "CLIENT": "client_id",
    "HOST": lambda row: row["client_host"].lstrip("/"),
    "READS": lambda row: " ".join(row["partitions"]) or None,
    "MEMBER": "member_id",
}
LAG_COLUMNS: Columns = {
    "PARTITION": lambda row: f"{row['topic']}-{row['partition']}",
    "COMMITTED": "committed_offset",
    "STABLE": "last_stable_offset",
    "END": "end_offset",
    "TO READ": lambda row: row["records_to_read"] if row["is_counted"] else _upper_bound(row["records_to_read"]),
    "HELD BACK": "offsets_held_back",
}
CHANGE_COLUMNS: Columns = {
    "PARTITION": "partition",
    "COMMITTED": "before",
    "WOULD BE": "after",
    "MOVES BY": lambda row: None if row["before"] is None else f"{row['after'] - row['before']:+d}",
}
NOTHING_COMMITTED = "No offsets are committed."


@click.group("groups", cls=LazyGroup, commands=COMMANDS)
def command() -> None:
    """Consumer groups: who is in them, what they still have to read, where they stand."""


@click.command("list")
@click.option("--state", "states", multiple=True, help="Only in this state (Stable, Empty...); may be repeated.")
@json_option
@connection_options
def list_command(states: tuple[str, ...], as_json: bool, connection: ClusterAccess) -> None:
    """List groups.

    \b
    Examples:
      fencepost groups list
      fencepost groups list --state Empty --json
    """
    wanted = {state.lower() for state in states}
    with connection.admin() as admin:
        groups = [row for row in admin.list_groups() if not wanted or row.group_state.lower() in wanted]
    rows = [
        {
            "group_id": row.group_id,
            "state": row.group_state or None,
            "type": row.group_type or row.protocol_type or None,
        }
        for row in groups
    ]
    print_rows(GROUP_COLUMNS, rows, as_json=as_json, empty="There are no groups.")


@click.command("delete")
@click.argument("group_ids", nargs=-1, required=True, metavar="GROUP...", shell_complete=complete_groups)
@yes_option
@json_option
@connection_options
def delete(group_ids: tuple[str, ...], is_sure: bool, as_json: bool, connection: ClusterAccess) -> None:
    """Delete groups without members, and the offsets that they have committed. Shows those, and asks.

    \b
    Examples:
      fencepost groups delete billing
      fencepost groups delete billing --yes
    """
    with connection.admin() as admin:
        rows = [
            {"group_id": group_id, "partition": str(topic_partition), "committed_offset": committed.offset}
            for group_id in group_ids
            for topic_partition, committed in sorted(admin.group_offsets(group_id).items())
        ]
        if not as_json:
            print_table(COMMITTED_COLUMNS, rows, empty=NOTHING_COMMITTED)
        is_done = confirm(f"Delete {', '.join(group_ids)}?", is_sure=is_sure)
        if is_done:
            admin.delete_groups(group_ids)
    if as_json:
        print_json({"is_done": is_done, "offsets": rows})
    elif is_done:
        click.echo(f"deleted {', '.join(group_ids)}")


# How much a group still has to read: records that a `read_committed` reader would get, counted within a time limit.
#
# Offsets overstate it (markers and aborted records have offsets too): a group that has read everything shows a lag of 1
# for ever in tools that subtract. Where counting would take too long, the difference of the offsets is given as what it
# is: an upper bound.


def measure_lag(
    admin: Admin, connection: ClusterAccess, committed: Mapping[TopicPartition, int | None], *, deadline: Deadline
) -> list[dict[str, Any]]:
    """In the order of the partitions; one whose topic is gone is left out. `records_to_read` is None where nothing is
    committed, because where a member begins is its own setting, and an upper bound unless it `is_counted`."""
    there = admin.describe_topics()
    partitions = [each for each in sorted(committed) if each.topic in there]
    starts = admin.earliest_offsets(partitions)
    stable = admin.latest_offsets(partitions, read_committed=True)
    ends = admin.latest_offsets(partitions)
    settings = connection.consumer_settings(isolation_level="read_committed")
    rows = []
    for each in partitions:
        at = committed[each]
        records, is_counted = None, False
        if at is not None:
            unread = OffsetRange(max(at, starts[each]), stable[each])
            try:
                records, is_counted = count_records(admin.cluster, settings, each, unread, deadline), True
            except Timeout:
                records = len(unread)
        rows.append(
            {
                "topic": each.topic,
                "partition": each.partition,
                "committed_offset": at,
                "start_offset": starts[each],
                "last_stable_offset": stable[each],
                "end_offset": ends[each],
                "records_to_read": records,
                "is_counted": is_counted,
                "offsets_held_back": ends[each] - stable[each],
            }
        )
    return rows


def _upper_bound(records: int | None) -> str | None:
    return None if records is None else f"<={records}"


# `fencepost groups describe`: the members of a group, its offsets, and its true lag.


@click.command("describe")
@click.argument("group_id", metavar="GROUP", shell_complete=complete_groups)
@click.option("--count-for", type=DURATION, default="10s", show_default=True, help="How long to count at most.")
@json_option
@connection_options
def describe(group_id: str, count_for: int, as_json: bool, connection: ClusterAccess) -> None:
    """Show who is in GROUP, where it stands, and how many records it still has to read.

    TO READ counts records that a read_committed reader would get: markers and aborted records, which other tools
    count in, are none. It costs the transfer of what is unread; what could not be counted in time is shown as an
    upper bound (<=). HELD BACK are offsets behind open transactions: `fencepost txn blockers` says whose.

    \b
    Examples:
      fencepost groups describe billing
      fencepost groups describe billing --count-for 1m --json
    """
    with connection.admin() as admin:
        group = existing_group(admin, group_id)
        owners = {each: member.member_id for member in group.members for each in member.partitions}
        is_pending = has_pending_offsets(admin, group_id)
        committed: dict[TopicPartition, int | None] = dict.fromkeys(owners)
        committed |= {each: row.offset for each, row in admin.group_offsets(group_id).items()}
        lags = measure_lag(admin, connection, committed, deadline=Deadline(count_for / 1000))
    members = [{**member._asdict(), "partitions": [*map(str, sorted(member.partitions))]} for member in group.members]
    if as_json:
        print_json(
            {
                "group_id": group.group_id,
                "state": group.state,
                "type": group.group_type,
                "assignor": group.protocol,
                "has_pending_offsets": is_pending,
                "members": members,
                "offsets": [
                    {**lag, "member_id": owners.get(TopicPartition(lag["topic"], lag["partition"]))} for lag in lags
                ],
            }
        )
        return
    assignor = f", assignor {group.protocol}" if group.protocol else ""
    click.echo(f"group {group_id}\n{group.state}, {group.group_type} protocol{assignor}\n")
    print_table(MEMBER_COLUMNS, members, empty="No members.")
    click.echo()
    print_table(LAG_COLUMNS, lags, empty=NOTHING_COMMITTED)
    if is_pending:
        say("An open transaction has offsets of this group pending: members wait for its end before they start.")


def existing_group(admin: Admin, group_id: str) -> GroupDescription:
    """An older Kafka describes a group that it does not know as dead."""
    try:
        group = admin.describe_group(group_id)
    except ClientError as problem:
        if problem.error_code != ErrorCode.GROUP_ID_NOT_FOUND:
            raise
        group = None
    if group is None or group.state.lower() == "dead":
        raise Failure(f"group '{group_id}' does not exist. `fencepost groups list` shows those that do.")
    return group


# `fencepost groups reset`: set committed offsets, with what that means for each partition shown first.


@click.command("reset")
@click.argument("group_id", metavar="GROUP", shell_complete=complete_groups)
@click.option("--to", "place", type=PLACE, required=True, help="Where to set it.")
@click.option("--topic", "topics", multiple=True, shell_complete=complete_topics, help="Only these; may be repeated.")
@click.option(
    "-p", "--partition", "partitions", multiple=True, type=click.IntRange(min=0), help="Only these of one topic."
)
@yes_option
@json_option
@connection_options
def reset(
    group_id: str,
    place: Place,
    topics: tuple[str, ...],
    partitions: tuple[int, ...],
    is_sure: bool,
    as_json: bool,
    connection: ClusterAccess,
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
        committed = {each: row.offset for each, row in admin.group_offsets(group_id).items()}
        chosen = chosen_partitions(admin, committed, topics, partitions)
        if not chosen:
            raise Failure(f"group '{group_id}' has committed nothing: say what to set with --topic")
        targets = resolve(admin, chosen, place, read_committed=True)
        rows = [{"partition": str(each), "before": committed.get(each), "after": targets[each]} for each in chosen]
        if not as_json:
            print_table(CHANGE_COLUMNS, rows)
        is_done = confirm(f"Set the offsets of '{group_id}'?", is_sure=is_sure)
        if is_done:
            refuse_members(admin, group_id)
            admin.alter_group_offsets(group_id, targets)
    if as_json:
        print_json({"group_id": group_id, "is_done": is_done, "offsets": rows})
    elif is_done:
        click.echo(f"group {group_id} is set")


def chosen_partitions(
    admin: Admin, committed: Iterable[TopicPartition], topics: Iterable[str], partitions: Iterable[int]
) -> list[TopicPartition]:
    named = [each for topic in topics for each in partitions_of(admin, topic, partitions)]
    return named or sorted(committed)


def refuse_members(admin: Admin, group_id: str) -> None:
    members = admin.describe_group(group_id).members
    if members:
        clients = ", ".join(sorted({f"{member.client_id} at {member.client_host}" for member in members}))
        raise Failure(f"group '{group_id}' has members ({clients}): stop them first, they would set it back")
