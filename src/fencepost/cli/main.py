"""The `fencepost` command. Each subcommand lives in a file of its own and is loaded when it is called."""

import importlib

import click

COMMANDS = {
    "serve": ("fencepost.cli.serve", "Run the broker."),
}


class LazyGroup(click.Group):
    """Knows its commands by name and help; loads one only when it runs, so that each starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_, help_text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="fencepost")
def main() -> None:
    """Exactly-once messaging: an embedded broker that speaks Kafka's protocol."""
