"""`fencepost log`: a data folder of our broker, offline."""

from pathlib import Path

import click

from fencepost.cli.data_folder import DataFolder, data_option
from fencepost.cli.failures import FOUND
from fencepost.cli.lazy_group import LazyGroup
from fencepost.cli.output import json_option, print_json

COMMANDS = {
    "dump": ("fencepost.cli.log_dump", "Print batches, records, indexes, internal topics."),
    "export": ("fencepost.cli.log_export", "Write Kafka's segment and index files."),
    "verify": ("fencepost.cli.log:verify", "Check every checksum of the journal."),
}


@click.group("log", cls=LazyGroup, commands=COMMANDS)
def command() -> None:
    """Look into a data folder without a broker. Nothing is changed; a broker may be working in it."""


@click.command("verify")
@data_option
@json_option
@click.pass_context
def verify(ctx: click.Context, folder: Path, as_json: bool) -> None:
    """Check every frame of the journal and every index; exits with 4 if something is damaged.

    \b
    Examples:
      fencepost log verify --data ./data
      fencepost log verify --data ./data --json
    """
    from fencepost.journal.dump import verify_folder

    faults = verify_folder(DataFolder(folder).disk)
    if as_json:
        print_json({"faults": faults})
    else:
        click.echo("\n".join(faults) or f"{folder}: every checksum is right")
    if faults:
        ctx.exit(FOUND)
