"""Kafka's own command line tools, several in one JVM (`programs/Tools.java`), and what each of them printed."""

import re
from typing import NamedTuple

from tests.interop.java.java_program import JavaClient


class Printed(NamedTuple):
    exit_code: int
    text: str

    @property
    def lines(self) -> list[str]:
        return [line for line in self.text.splitlines() if line.strip()]

    def rows(self) -> list[dict[str, str]]:
        """A table with a line of headings, by heading. Spaces inside a cell are not expected."""
        headings, *rows = [line.split() for line in self.lines]
        return [dict(zip(headings, row, strict=False)) for row in rows]


def run_tools(java: JavaClient, *commands: list[str], typed: dict[int, list[str]] | None = None) -> list[Printed]:
    """Each command is a main class and its arguments; `typed` is the standard input of some, by their number."""
    lines = []
    for number, command in enumerate(commands):
        given = (typed or {}).get(number)
        lines.append("\t".join([*command, *(["<", *given] if given else [])]))
    said = "\n".join(java.run("Tools", typed="\n".join(lines) + "\n"))
    found = re.findall(r"### COMMAND \d+\n(.*?)\n### EXIT (-?\d+)", said, flags=re.DOTALL)
    assert len(found) == len(commands), said
    return [Printed(int(exit_code), text) for text, exit_code in found]
