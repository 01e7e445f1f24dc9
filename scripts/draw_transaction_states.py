"""Draw the states of a transactional id into docs/transactions.md, from the table that the coordinator itself obeys.

`--check` writes nothing and fails if the page is not current.
"""

import sys
from pathlib import Path

from fencepost.transactions.states import LEGAL_TRANSITIONS, STATE_DOCS, TransactionState

PAGE = Path(__file__).resolve().parent.parent / "docs" / "transactions.md"
BEGIN = "<!-- states: drawn by scripts/draw_transaction_states.py -->"
END = "<!-- end of states -->"


def diagram() -> str:
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> Empty: InitProducerId of an unknown id"]
    for (source, target), cause in LEGAL_TRANSITIONS.items():
        lines.append(f"    {source.kafka_name} --> {target.kafka_name}: {cause}")
    lines += [f"    {TransactionState.DEAD.kafka_name} --> [*]", "```"]
    return "\n".join(lines)


def table() -> str:
    lines = ["| number | state | what it means |", "|---|---|---|"]
    lines += [f"| {state.value} | {state.kafka_name} | {STATE_DOCS[state]} |" for state in TransactionState]
    return "\n".join(lines)


def drawn_into(page: str) -> str:
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE.name} has lost the lines between which the states are drawn")
    return f"{before}{BEGIN}\n\n{diagram()}\n\n{table()}\n\n{END}{after}"


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    drawn = drawn_into(page)
    if "--check" in sys.argv[1:]:
        if drawn != page:
            print("docs/transactions.md is not current: run scripts/draw_transaction_states.py")
        return int(drawn != page)
    PAGE.write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
