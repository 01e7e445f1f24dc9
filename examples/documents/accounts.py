"""What arrived, counted: the small table with which every program ends.

`torn` counts inputs whose outputs did not come together: an invoice without its shipment, or one of them twice.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

ANOMALIES = ("lost", "repeated", "torn", "reordered")


class Account(NamedTuple):
    count_in: int
    count_out: int
    lost: int = 0
    repeated: int = 0
    torn: int = 0
    reordered: int = 0

    @property
    def anomalies(self) -> set[str]:
        return {name for name in ANOMALIES if getattr(self, name)}


def balance(inputs: Iterable[str], outputs: Mapping[str, Sequence[str]]) -> Account:
    """`outputs` has, for each kind of output (an invoice, a shipment), the inputs that each was made for."""
    given = list(inputs)
    counts = {kind: Counter(name for name in names if name in set(given)) for kind, names in outputs.items()}
    copies = {name: [counts[kind][name] for kind in counts] for name in given}
    return Account(
        count_in=len(given),
        count_out=sum(count.total() for count in counts.values()),
        lost=sum(not any(found) for found in copies.values()),
        repeated=sum(max(0, count - 1) for found in copies.values() for count in found),
        torn=sum(len(set(found)) > 1 for found in copies.values()),
    )


def reordered(arrived: Sequence[int]) -> int:
    """How many came, for the first time, after one that was sent later."""
    highest, late, seen = -1, 0, set[int]()
    for number in arrived:
        if number not in seen:
            late += number < highest
            highest = max(highest, number)
            seen.add(number)
    return late


def print_table(rows: Mapping[str, Account], *, more: Mapping[str, Mapping[str, object]] | None = None) -> None:
    """One line for each version of the program; `more` adds columns."""
    extra = list(next(iter(more.values()))) if more else []
    header = ["", "in", "out", *ANOMALIES, *extra]
    lines = [header]
    for name, account in rows.items():
        counted = [account.count_in, account.count_out, *(getattr(account, anomaly) for anomaly in ANOMALIES)]
        lines.append([name, *map(str, counted), *(str(more[name][column]) for column in extra if more)])
    widths = [max(len(line[index]) for line in lines) for index in range(len(header))]
    for line in lines:
        print(
            "  ".join(
                [
                    line[0].ljust(widths[0]),
                    *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
                ]
            )
        )
