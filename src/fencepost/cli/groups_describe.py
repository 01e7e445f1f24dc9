"""`fencepost groups describe`: the members of a group, its offsets, and its true lag."""

from collections.abc import Iterable
from typing import Any

import click

from fencepost.cli.connection import Connection, connection_options
from fencepost.cli.failures import Failure
from fencepost.cli.lag import PartitionLag, measure_lag
from fencepost.cli.moments import Duration
from fencepost.cli.names import complete_groups
from fencepost.cli.open_transactions import has_pending_offsets
from fencepost.cli.output import json_option, print_json, print_table, say
from fencepost.client.admin import Admin
from fencepost.client.admin_groups import GroupDescription, GroupMember
from fencepost.client.exceptions import ClientError
from fencepost.client.time_limits import Deadline
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition


@click.command("describe")
@click.argument("group_id", metavar="GROUP", shell_complete=complete_groups)
@click.option("--count-for", type=Duration(), default="10s", show_default=True, help="How long to count at most.")
@json_option
@connection_options
def command(group_id: str, count_for: int, as_json: bool, connection: Connection) -> None:
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
        owners = {where: member for member in group.members for where in member.partitions}
        is_pending = has_pending_offsets(admin, group_id)
        committed: dict[TopicPartition, int | None] = dict.fromkeys(owners)
        committed |= {where: row.offset for where, row in admin.group_offsets(group_id).items()}
        lags = measure_lag(admin, connection, committed, deadline=Deadline(count_for / 1000))
    if as_json:
        print_json(as_document(group, lags, owners, is_pending=is_pending))
        return
    assignor = f", assignor {group.protocol}" if group.protocol else ""
    click.echo(f"group {group_id}\n{group.state}, {group.group_type} protocol{assignor}\n")
    print_members(group.members)
    click.echo()
    print_table(
        ["PARTITION", "COMMITTED", "STABLE", "END", "TO READ", "HELD BACK"],
        [
            (
                str(lag.topic_partition),
                lag.committed_offset,
                lag.last_stable_offset,
                lag.end_offset,
                lag.records_text,
                lag.held_back,
            )
            for lag in lags
        ],
        empty="No offsets are committed.",
    )
    if is_pending:
        say("An open transaction has offsets of this group pending: members wait for its end before they start.")


def existing_group(admin: Admin, group_id: str) -> GroupDescription:
    """An older Kafka describes a group that it never heard of as dead."""
    try:
        group = admin.describe_group(group_id)
    except ClientError as problem:
        if problem.error_code != ErrorCode.GROUP_ID_NOT_FOUND:
            raise
        group = None
    if group is None or group.state.lower() == "dead":
        raise Failure(f"group '{group_id}' does not exist. `fencepost groups list` shows those that do.")
    return group


def print_members(members: Iterable[GroupMember]) -> None:
    rows = [
        (member.client_id, member.client_host.lstrip("/"), _short(member.partitions), member.member_id)
        for member in members
    ]
    print_table(["CLIENT", "HOST", "READS", "MEMBER"], rows, empty="No members.")


def as_document(
    group: GroupDescription,
    lags: Iterable[PartitionLag],
    owners: dict[TopicPartition, GroupMember],
    *,
    is_pending: bool,
) -> dict[str, Any]:
    return {
        "group_id": group.group_id,
        "state": group.state,
        "type": group.group_type,
        "assignor": group.protocol,
        "has_pending_offsets": is_pending,
        "members": [
            {**member._asdict(), "partitions": [str(where) for where in member.partitions]} for member in group.members
        ],
        "offsets": [
            {
                "topic": lag.topic_partition.topic,
                "partition": lag.topic_partition.partition,
                "committed_offset": lag.committed_offset,
                "start_offset": lag.start_offset,
                "last_stable_offset": lag.last_stable_offset,
                "end_offset": lag.end_offset,
                "records_to_read": lag.records,
                "is_counted": lag.is_counted,
                "offsets_held_back": lag.held_back,
                "member_id": owners[lag.topic_partition].member_id if lag.topic_partition in owners else None,
            }
            for lag in lags
        ],
    }


def _short(partitions: Iterable[TopicPartition]) -> str:
    return " ".join(map(str, sorted(partitions))) or "-"
