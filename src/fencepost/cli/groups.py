"""`fencepost groups`: consumer groups, how far they are behind, where they stand, and where to set them."""

import click

from fencepost.cli.connection import Connection, connection_options
from fencepost.cli.lazy_group import LazyGroup
from fencepost.cli.names import complete_groups
from fencepost.cli.output import confirm, json_option, print_json, print_table

COMMANDS = {
    "list": ("fencepost.cli.groups:list_command", "List the groups that there are."),
    "describe": ("fencepost.cli.groups_describe", "Members, offsets, and records still to be read."),
    "reset": ("fencepost.cli.groups_reset", "Set the offsets of a group, after a preview."),
    "delete": ("fencepost.cli.groups:delete", "Delete groups and their offsets."),
}


@click.group("groups", cls=LazyGroup, commands=COMMANDS)
def command() -> None:
    """Consumer groups: who is in them, what they still have to read, where they stand."""


@click.command("list")
@click.option("--state", "states", multiple=True, help="Only in this state (Stable, Empty...); may be repeated.")
@json_option
@connection_options
def list_command(states: tuple[str, ...], as_json: bool, connection: Connection) -> None:
    """List groups.

    \b
    Examples:
      fencepost groups list
      fencepost groups list --state Empty --json
    """
    wanted = {state.lower() for state in states}
    with connection.admin() as admin:
        groups = [row for row in admin.list_groups() if not wanted or row.group_state.lower() in wanted]
    rows = [(row.group_id, row.group_state or None, row.group_type or row.protocol_type or None) for row in groups]
    if as_json:
        print_json([dict(zip(("group_id", "state", "type"), row, strict=True)) for row in rows])
        return
    print_table(["GROUP", "STATE", "TYPE"], rows, empty="There are no groups.")


@click.command("delete")
@click.argument("group_ids", nargs=-1, required=True, metavar="GROUP...", shell_complete=complete_groups)
@click.option("-y", "--yes", "is_sure", is_flag=True, help="Do not ask.")
@json_option
@connection_options
def delete(group_ids: tuple[str, ...], is_sure: bool, as_json: bool, connection: Connection) -> None:
    """Delete groups without members, and the offsets that they have committed. Shows those, and asks.

    \b
    Examples:
      fencepost groups delete billing
      fencepost groups delete billing --yes
    """
    with connection.admin() as admin:
        rows = [
            (group_id, str(where), committed.offset)
            for group_id in group_ids
            for where, committed in sorted(admin.group_offsets(group_id).items())
        ]
        if not as_json:
            print_table(["GROUP", "PARTITION", "COMMITTED"], rows, empty="No offsets are committed.")
        is_done = confirm(f"Delete {', '.join(group_ids)}?", is_sure=is_sure)
        if is_done:
            admin.delete_groups(group_ids)
    if as_json:
        offsets = [dict(zip(("group_id", "partition", "committed_offset"), row, strict=True)) for row in rows]
        print_json({"is_done": is_done, "offsets": offsets})
    elif is_done:
        click.echo(f"deleted {', '.join(group_ids)}")
