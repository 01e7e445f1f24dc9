"""Records as text and JSON, and back: what `consume --json` prints, `produce --format json` reads.

Keys and values are bytes. Text that is UTF-8 is `"value": "..."`, anything else `"value_base64": "..."`, and null is
null, so that nothing is lost on the way.
"""

import base64
import binascii
import codecs
import json
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, BinaryIO, NamedTuple

import click

from fencepost.cli.arguments import format_clock, format_moment, iso_moment
from fencepost.records.control import ControlMarker
from fencepost.records.record import Headers


class OutgoingRecord(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int | None = None
    timestamp_ms: int | None = None


def as_text(data: bytes | None) -> str:
    """For people: bytes that are not UTF-8 are escaped."""
    return "null" if data is None else data.decode("utf-8", "backslashreplace")


def as_fields(name: str, data: bytes | None) -> dict[str, str | None]:
    if data is None:
        return {name: None}
    try:
        return {name: data.decode("utf-8")}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data).decode()}


def headers_as_json(headers: Headers) -> list[dict[str, str | None]]:
    return [{"key": name, **as_fields("value", value)} for name, value in headers]


def record_from_json(line: bytes) -> OutgoingRecord:
    """A bad line is refused and shown; the caller knows its number."""
    try:
        fields = json.loads(line)
        if not isinstance(fields, dict):
            raise ValueError("not an object")
        headers = tuple((header["key"], _bytes(header, "value")) for header in fields.get("headers") or ())
        return OutgoingRecord(
            key=_bytes(fields, "key"),
            value=_bytes(fields, "value"),
            headers=headers,
            partition=fields.get("partition"),
            timestamp_ms=fields.get("timestamp_ms"),
        )
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error) as problem:
        raise click.ClickException(
            f"{line[:80].decode(errors='replace')!r} is not a record as `consume --json` prints it: {problem}"
        ) from None


def _bytes(fields: Mapping[str, Any], name: str) -> bytes | None:
    encoded = fields.get(f"{name}_base64")
    if encoded is not None:
        return base64.b64decode(encoded, validate=True)
    text = fields.get(name)
    if text is None:
        return None
    return text.encode() if isinstance(text, str) else json.dumps(text).encode()


# What `produce` reads: a record for each line, for each line of JSON, or for each file.


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


# How `consume` prints a record: its value, key and value, a line with all of it, JSON, or a template of the user's.


FIELDS = ("topic", "partition", "offset", "key", "value", "headers", "timestamp", "time", "status")


class ShownRecord(NamedTuple):
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    status: str = ""
    """plain, committed, aborted, open or marker, where that was asked for."""
    producer_id: int = -1
    producer_epoch: int = -1
    marker: ControlMarker | None = None

    @property
    def marker_text(self) -> str:
        if self.marker is None:
            return "control record"
        kind = "COMMIT" if self.marker.is_commit else "ABORT"
        return f"{kind} marker of producer id {self.producer_id} epoch {self.producer_epoch}"


Show = Callable[[ShownRecord], bytes]


def choose_format(chosen: str, *, as_json: bool) -> Show:
    if as_json:
        return show_json
    named = {"value": show_value, "pair": show_pair, "line": show_line}
    return named[chosen] if chosen in named else template(chosen)


def show_value(record: ShownRecord) -> bytes:
    return (record.marker_text.encode() if record.status == "marker" else record.value or b"") + b"\n"


def show_pair(record: ShownRecord) -> bytes:
    return b"%s\t%s" % (b"null" if record.key is None else record.key, show_value(record))


def show_line(record: ShownRecord) -> bytes:
    status = f"  {record.status:<9}" if record.status else ""
    if record.status == "marker":
        what = record.marker_text
    else:
        what = f"{as_text(record.key)}: {as_text(record.value)}" + _headers_text(record.headers)
    place = f"{record.topic}-{record.partition} @{record.offset}"
    return f"{place}  {format_clock(record.timestamp_ms)}{status}  {what}\n".encode("utf-8", "surrogateescape")


def show_json(record: ShownRecord) -> bytes:
    fields: dict[str, object] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "time": iso_moment(record.timestamp_ms),
    }
    if record.status:
        fields |= {
            "status": record.status,
            "producer_id": record.producer_id,
            "producer_epoch": record.producer_epoch,
        }
    if record.status == "marker":
        marker = record.marker
        fields["marker"] = marker and {
            "type": "commit" if marker.is_commit else "abort",
            "coordinator_epoch": marker.coordinator_epoch,
        }
    else:
        fields |= {
            **as_fields("key", record.key),
            **as_fields("value", record.value),
            "headers": headers_as_json(record.headers),
        }
    return (json.dumps(fields, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape")


def template(text: str) -> Show:
    """`{offset} {value}` and the like, with \\n and \\t as escapes; a line for each record unless it ends otherwise."""
    unescaped = codecs.decode(text.encode("latin-1", "backslashreplace"), "unicode_escape") if "\\" in text else text
    try:
        named = [name for _, name, _, _ in string.Formatter().parse(unescaped) if name is not None]
    except ValueError as problem:
        raise click.BadParameter(f"--format {text!r}: {problem}") from None
    unknown = [name for name in named if name not in FIELDS]
    if unknown or not named:
        raise click.BadParameter(
            f"--format {text!r}: expected value, pair, line, or a template with {{{'}, {'.join(FIELDS)}}}"
        )
    end = "" if unescaped.endswith(("\n", "\0")) else "\n"
    return lambda record: (unescaped.format(**_fields(record)) + end).encode("utf-8", "surrogateescape")


def _fields(record: ShownRecord) -> dict[str, object]:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "key": as_text(record.key),
        "value": record.marker_text if record.status == "marker" else as_text(record.value),
        "headers": ",".join(f"{name}={as_text(value)}" for name, value in record.headers),
        "timestamp": record.timestamp_ms,
        "time": format_moment(record.timestamp_ms),
        "status": record.status,
    }


def _headers_text(headers: Headers) -> str:
    return "  {" + ", ".join(f"{name}={as_text(value)}" for name, value in headers) + "}" if headers else ""
