"""Times as people write and read them: local time with milliseconds, durations in two words, "10m" for 10 min ago."""

import re
import time
from datetime import datetime

import click

UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(\d+)(ms|s|m|h|d)")


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def format_moment(at_ms: int) -> str:
    """`2026-11-15 09:43:53.120` in local time; a dash for no time at all."""
    if at_ms < 0:
        return "-"
    try:
        return datetime.fromtimestamp(at_ms / 1000).isoformat(sep=" ", timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return f"{at_ms} ms"


def format_clock(at_ms: int) -> str:
    """The time of day alone."""
    return format_moment(at_ms).rpartition(" ")[2] if at_ms >= 0 else "-"


def iso_moment(at_ms: int) -> str | None:
    """For JSON: ISO 8601 with the offset from UTC; None for no time at all."""
    if at_ms < 0:
        return None
    try:
        return datetime.fromtimestamp(at_ms / 1000).astimezone().isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return None


def format_duration(duration_ms: int) -> str:
    """The two largest units: `2 h 5 min`."""
    if duration_ms < 1000:
        return f"{duration_ms} ms"
    seconds = duration_ms // 1000
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    if seconds < 86_400:
        return f"{seconds // 3600} h {seconds % 3600 // 60} min"
    return f"{seconds // 86_400} d {seconds % 86_400 // 3600} h"


def parse_duration_ms(text: str) -> int:
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"'{text}' is no duration: expected a number and ms, s, m, h or d, for example 10m")
    return int(match[1]) * UNITS_MS[match[2]]


def parse_moment_ms(text: str) -> int | None:
    """`2026-11-15T09:00` (local unless it says otherwise), `10m` (ago), `@1731663833000` (ms); None: none of them."""
    if _DURATION.fullmatch(text):
        return now_ms() - parse_duration_ms(text)
    if text.startswith("@") and text[1:].isdigit():
        return int(text[1:])
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        return None


class Duration(click.ParamType[int]):
    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return value if isinstance(value, int) else parse_duration_ms(str(value))
