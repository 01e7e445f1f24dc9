"""A figure that a benchmark prints, with the goal that it is held to, if there is one; and how a benchmark runs."""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    name: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def goal(self) -> str:
        if self.at_least is not None:
            return f"at least {self.at_least:g} {self.unit}"
        if self.at_most is not None:
            return f"at most {self.at_most:g} {self.unit}"
        return ""

    @property
    def verdict(self) -> str:
        if not self.goal:
            return ""
        too_low = self.at_least is not None and self.value < self.at_least
        too_high = self.at_most is not None and self.value > self.at_most
        return "MISSED" if too_low or too_high else "met"


def run_benchmark(
    description: str | None,
    parts: Callable[[argparse.Namespace, ExitStack], Iterable[tuple[str, Sequence[Figure]]]],
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> int:
    """Print the headings and figures of all parts as they come; returns 1 if one of them misses its goal. What a part
    starts it gives to the stack, to be ended.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a small version, to see that it runs")
    parser.add_argument("--json", action="store_true", help="print figures as JSON, one line each, and nothing else")
    for name, details in (options or {}).items():
        parser.add_argument(name, **details)
    arguments = parser.parse_args()
    is_missed = False
    with ExitStack() as stack:
        for heading, figures in parts(arguments, stack):
            if not arguments.json:
                print(f"\n{heading}", flush=True)
            for figure in figures:
                print_figure(figure, as_json=arguments.json)
                is_missed |= figure.verdict == "MISSED"
    return int(is_missed)


def print_figure(figure: Figure, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({**asdict(figure), "verdict": figure.verdict}), flush=True)
        return
    goal = f"   {figure.verdict}: {figure.goal}" if figure.goal else ""
    print(f"  {figure.name:<58} {figure.value:>12,.2f} {figure.unit}{goal}", flush=True)
    if figure.note:
        print(f"      {figure.note}", flush=True)
