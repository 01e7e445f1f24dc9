"""How `consume` prints a record: its value, key and value, a line with all of it, JSON, or a template of the user's."""

import codecs
import json
import string
from collections.abc import Callable
from typing import NamedTuple

import click

from fencepost.cli.moments import format_clock, format_moment, iso_moment
from fencepost.cli.record_text import as_fields, as_text, headers_as_json
from fencepost.records.control import ControlMarker
from fencepost.records.record import Headers

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
    where = f"{record.topic}-{record.partition} @{record.offset}"
    return f"{where}  {format_clock(record.timestamp_ms)}{status}  {what}\n".encode("utf-8", "surrogateescape")


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
