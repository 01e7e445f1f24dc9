"""Records as text and JSON, and back: what `consume --json` prints, `produce --format json` reads.

Keys and values are bytes. Text that is UTF-8 is `"value": "..."`, anything else `"value_base64": "..."`, and null is
null, so that nothing is lost on the way.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import click

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
    """A bad line is refused with its words; the caller knows its number."""
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
