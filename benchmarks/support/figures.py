"""A figure that a benchmark prints, with the goal that it is held to, if there is one."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="a small version, to see that it runs")
    parser.add_argument("--json", action="store_true", help="print figures as JSON, one line each, and nothing else")


def print_heading(text: str, *, as_json: bool) -> None:
    if not as_json:
        print(f"\n{text}", flush=True)


def print_figures(figures: Sequence[Figure], *, as_json: bool) -> None:
    for figure in figures:
        if as_json:
            print(json.dumps({**asdict(figure), "verdict": figure.verdict}), flush=True)
            continue
        goal = f"   {figure.verdict}: {figure.goal}" if figure.goal else ""
        print(f"  {figure.name:<58} {figure.value:>12,.2f} {figure.unit}{goal}", flush=True)
        if figure.note:
            print(f"      {figure.note}", flush=True)


def exit_code(figures: Sequence[Figure]) -> int:
    return int(any(figure.verdict == "MISSED" for figure in figures))
