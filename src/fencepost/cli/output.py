"""What commands print: tables for people, JSON for programs.

A table or a sentence in a terminal fits its width, on several lines if need be; elsewhere nothing is wrapped or cut,
so that `grep` and `awk` find whole lines, and nothing is coloured. With `--json` a command prints one document, or one
object a line where it prints as it goes.
"""

import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TextIO

import click

Cell = str | int | None

Row = Mapping[str, Any]
"""An object as `--json` prints it."""
Columns = Mapping[str, str | Callable[[Row], Cell]]
"""The headings of a table, each with the name of its field or with what makes its cell of a row."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
yes_option = click.option("-y", "--yes", "is_sure", is_flag=True, help="Do not ask.")


def print_json(document: Any) -> None:
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def json_line(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False)


def print_rows(columns: Columns, rows: Sequence[Row], *, as_json: bool, empty: str) -> None:
    if as_json:
        print_json(rows)
    else:
        print_table(columns, rows, empty=empty)


def print_table(columns: Columns, rows: Iterable[Row], *, empty: str = "") -> None:
    """`empty` is the sentence that stands for a table without rows. Numbers are set to the right."""
    headings = list(columns)
    texts = [[_text(row[cell] if isinstance(cell, str) else cell(row)) for cell in columns.values()] for row in rows]
    if not texts:
        click.echo(empty)
        return
    is_number = [all(_is_number(row[column]) for row in texts) for column in range(len(headings))]
    if sys.stdout.isatty():
        _print_in_terminal(headings, texts, is_number)
        return
    widths = [max(len(row[column]) for row in [list(headings), *texts]) for column in range(len(headings))]
    for row in [list(headings), *texts]:
        cells = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(row, widths, is_number, strict=True)
        ]
        click.echo("  ".join(cells).rstrip())


def _print_in_terminal(headings: Sequence[str], texts: list[list[str]], is_number: list[bool]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for heading, right in zip(headings, is_number, strict=True):
        table.add_column(heading, justify="right" if right else "left", overflow="fold", no_wrap=right)
    for row in texts:
        table.add_row(*(Text(text, overflow="fold") for text in row))
    Console(highlight=False).print(table)


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def fitted(sentence: str, *, stream: TextIO | None = None, indent: int = 0, beside: int = 0) -> str:
    """Broken between words at the width of a terminal, further lines indented, with room for `beside` characters."""
    if not (stream or sys.stdout).isatty():
        return sentence
    return textwrap.fill(
        sentence,
        shutil.get_terminal_size().columns - beside,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def say(sentence: str) -> None:
    """A message to the person, beside what the command prints."""
    click.echo(fitted(sentence, stream=sys.stderr), err=True)


def confirm(question: str, *, is_sure: bool) -> bool:
    """Whether to go on after a preview: `--yes`, or a person who says so. Without a terminal to ask in, no."""
    if is_sure:
        return True
    if sys.stdin.isatty() and sys.stdout.isatty():
        return click.confirm(fitted(question, beside=len(" [y/N]: ")))
    say("Nothing was changed: this is a preview. Add --yes to do it.")
    return False


def _text(cell: object) -> str:
    if isinstance(cell, list):
        return ",".join(map(str, cell))
    return "-" if cell is None else str(cell)


def _is_number(text: str) -> bool:
    return text == "-" or text.removeprefix("<=").lstrip("-").isdigit()
