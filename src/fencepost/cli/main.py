"""The `fencepost` command: one line for each subcommand, which lives in a file of its own.

A group of commands knows them by name and one line of help, and loads one only when it is called: `fencepost --help`
loads none, and each command only what it needs. This is also where trouble that a person can understand becomes one
line and an exit code, and never a traceback: `failures.py` has the table.
"""

import errno
import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import click
from click.shell_completion import get_completion_class

INTERRUPTED = 130

Commands = Mapping[str, tuple[str, str]]
"""Name -> (module whose `command` it is, or module:attribute; one line of help)."""


class LazyGroup(click.Group):
    def __init__(self, *args: Any, commands: Commands | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._table: Commands = commands or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._table:
            return None
        module, _, attribute = self._table[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute or "command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_, help_text) in self._table.items()])

    def invoke(self, ctx: click.Context) -> Any:
        from fencepost.errors import FencepostError

        try:
            return super().invoke(ctx)
        except FencepostError as problem:
            from fencepost.cli.failures import as_failure

            raise as_failure(problem) from problem
        except OSError as problem:
            # Click ends quietly when the reader of our output goes away.
            if problem.errno == errno.EPIPE:
                raise
            file = f"{problem.filename}: " if problem.filename else ""
            raise click.ClickException(f"{file}{problem.strerror or problem}") from problem
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None


COMMANDS = {
    "demo": ("fencepost.cli.demo", "See exactly-once survive kill -9, on this machine."),
    "serve": ("fencepost.cli.serve", "Run the broker."),
    "run": ("fencepost.cli.run", "Run pipelines on Spark, exactly once."),
    "audit": ("fencepost.cli.audit", "Prove exactly-once between topics, or name the offending offsets."),
    "topics": ("fencepost.cli.topics", "Create, list, describe, alter and delete topics."),
    "produce": ("fencepost.cli.produce", "Write records, in a transaction if asked."),
    "consume": ("fencepost.cli.consume", "Read records; markers and aborted ones if asked."),
    "groups": ("fencepost.cli.groups", "Consumer groups: true lag, offsets, resets."),
    "txn": ("fencepost.cli.txn", "Transactions: list, describe, find blockers, abort."),
    "log": ("fencepost.cli.log", "A data folder, read offline: dump, export, verify."),
    "warm-up": ("fencepost.cli.warm_up", "Make later starts quick: kernels compiled, Spark's classes at hand."),
    "completion": ("fencepost.cli.main:completion", "Print what makes a shell complete commands and names."),
}


@click.group(cls=LazyGroup, commands=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="fencepost")
def main() -> None:
    """Exactly-once messaging: an embedded broker that speaks Kafka's protocol, and tools for any Kafka cluster.

    \b
    Exit codes:
      0    done
      1    refused, not found, or failed; the message says what and why
      2    the command line is wrong
      3    no broker could be reached, or it did not answer in time
      4    a check found what it looks for (txn blockers --check, log verify)
      130  interrupted
    """


# `fencepost completion`: the script that makes a shell complete commands, options and names.


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what makes SHELL complete commands, options, topics, groups and transactional ids.

    \b
    Examples:
      fencepost completion bash
      source <(fencepost completion bash)
      fencepost completion zsh > _fencepost
      fencepost completion fish > fencepost.fish
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    program = completion_class(ctx.find_root().command, {}, "fencepost", "_FENCEPOST_COMPLETE")
    click.echo(program.source())


# Every command with its help and its examples, for the page that lists them and the test that runs them.


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
