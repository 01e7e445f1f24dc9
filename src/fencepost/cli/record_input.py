"""What `produce` reads: a record for each line, for each line of JSON, or for each file."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import BinaryIO, NamedTuple

import click

from fencepost.cli.record_text import OutgoingRecord, record_from_json
from fencepost.records.record import Headers


class InputFormat(StrEnum):
    LINES = "lines"
    JSON = "json"
    FILES = "files"


class InputOptions(NamedTuple):
    input_format: InputFormat
    key_separator: bytes | None = None
    null_text: bytes | None = None
    """A key or value that reads like this is null."""


def read_records(streams: Iterable[BinaryIO], options: InputOptions) -> Iterator[OutgoingRecord]:
    for stream in streams:
        if options.input_format is InputFormat.FILES:
            yield OutgoingRecord(None, stream.read())
            continue
        for number, line in enumerate(stream, start=1):
            try:
                yield _read_line(line.removesuffix(b"\n").removesuffix(b"\r"), options)
            except click.ClickException as problem:
                name = getattr(stream, "name", "standard input")
                raise click.ClickException(f"{name}, line {number}: {problem.message}") from None


def _read_line(line: bytes, options: InputOptions) -> OutgoingRecord:
    if options.input_format is InputFormat.JSON:
        return record_from_json(line)
    if options.key_separator is None:
        return OutgoingRecord(None, _or_null(line, options))
    key, separator, value = line.partition(options.key_separator)
    if not separator:
        shown = options.key_separator.decode(errors="replace")
        raise click.ClickException(f"no '{shown}' between a key and a value: {line[:80].decode(errors='replace')!r}")
    return OutgoingRecord(_or_null(key, options), _or_null(value, options))


def _or_null(data: bytes, options: InputOptions) -> bytes | None:
    return None if data == options.null_text else data


def parse_headers(texts: Iterable[str]) -> Headers:
    headers = []
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator:
            raise click.BadParameter(f"header '{text}': expected NAME=VALUE")
        headers.append((name, value.encode()))
    return tuple(headers)
