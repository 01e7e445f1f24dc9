"""Every command with its help and its examples, for the page that lists them and the test that runs them."""

from collections.abc import Iterator

import click

from fencepost.cli.main import main

WIDTH = 80


def walk_commands() -> Iterator[tuple[str, click.Command]]:
    """All commands under their full names, groups before what is in them."""
    yield from _walk("fencepost", main)


def _walk(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name)
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                yield from _walk(f"{name} {child}", found)


def help_text(name: str, command: click.Command) -> str:
    """As it is printed in a terminal of 80 columns."""
    context = click.Context(
        command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=["-h", "--help"]
    )
    return command.get_help(context)


def examples(command: click.Command) -> list[str]:
    """The command lines under "Examples:" (or "Example:") of a command's help, in order."""
    _, _, after = (command.help or "").replace("Example:", "Examples:").partition("Examples:\n")
    return [line.strip() for line in after.splitlines() if line.strip()]
