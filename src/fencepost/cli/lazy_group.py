"""A group of commands that knows them by name and one line of help, and loads one only when it is called.

So `fencepost --help` loads no command, and each command only what it needs. This is also where trouble that a person
can understand becomes one line and an exit code, and never a traceback: `failures.py` has the table.
"""

import errno
import importlib
from collections.abc import Mapping
from typing import Any

import click

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
            # Click ends quietly when whoever reads our output goes away.
            if problem.errno == errno.EPIPE:
                raise
            where = f"{problem.filename}: " if problem.filename else ""
            raise click.ClickException(f"{where}{problem.strerror or problem}") from problem
        except KeyboardInterrupt:
            raise click.exceptions.Exit(INTERRUPTED) from None
