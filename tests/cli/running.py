"""Commands run inside this process: what they print, and how they end."""

import json
from typing import Any, NamedTuple

from click.testing import CliRunner

from fencepost.cli.main import main


class Printed(NamedTuple):
    exit_code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def json(self) -> Any:
        return json.loads(self.out)

    def json_lines(self) -> list[Any]:
        return [json.loads(line) for line in self.lines]

    def table(self) -> list[dict[str, str]]:
        """The first table printed, by heading; cells are two spaces apart."""
        headings, *rows = [line.split("  ") for line in self.out.split("\n\n")[0].splitlines()]
        names = [cell.strip() for cell in headings if cell.strip()]
        return [dict(zip(names, [cell.strip() for cell in row if cell.strip()], strict=False)) for row in rows]


def run_command(*arguments: str, typed: bytes | str = b"", servers: str = "127.0.0.1:1") -> Printed:
    environment = {"KAFKA_BOOTSTRAP_SERVERS": servers}
    result = CliRunner().invoke(main, list(arguments), input=typed, env=environment)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Printed(result.exit_code, result.stdout, result.stderr)


class Cli:
    """Commands against one cluster."""

    def __init__(self, servers: str) -> None:
        self.servers = servers

    def __call__(self, *arguments: str, typed: bytes | str = b"", exit_code: int = 0) -> Printed:
        printed = run_command(*arguments, typed=typed, servers=self.servers)
        assert printed.exit_code == exit_code, printed
        return printed
