"""Draw the group coordinator's state machines into docs/groups.md, from the tables that the code itself obeys.

`--check` writes nothing and fails if the page is not current.
"""

import sys
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from fencepost.groups import states

PAGE = Path(__file__).resolve().parent.parent / "docs" / "groups.md"
MACHINES: dict[str, tuple[Mapping[Any, str], Mapping[Any, str]]] = {
    "classic groups": (states.CLASSIC_GROUP_STATES, states.CLASSIC_GROUP_TRANSITIONS),
    "consumer groups": (states.CONSUMER_GROUP_STATES, states.CONSUMER_GROUP_TRANSITIONS),
    "members of consumer groups": (states.MEMBER_STATES, states.MEMBER_TRANSITIONS),
}


def name_of(state: Enum) -> str:
    """Group states by Kafka's name; member states have numbers, so they go by their own."""
    return state.value if isinstance(state.value, str) else state.name.title().replace("_", "")


def drawn(explained: Mapping[Any, str], arrows: Mapping[Any, str]) -> str:
    first = next(iter(explained))
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {name_of(first)}"]
    lines += [f"    {name_of(source)} --> {name_of(target)}: {cause}" for (source, target), cause in arrows.items()]
    lines += ["```", "", "| state | what it means |", "|---|---|"]
    lines += [f"| {name_of(state)} | {meaning} |" for state, meaning in explained.items()]
    return "\n".join(lines)


def drawn_into(page: str) -> str:
    for machine, (explained, arrows) in MACHINES.items():
        begin = f"<!-- {machine}: drawn by scripts/draw_group_states.py -->"
        end = f"<!-- end of {machine} -->"
        before, has_begin, rest = page.partition(begin)
        _, has_end, after = rest.partition(end)
        if not has_begin or not has_end:
            raise SystemExit(f"{PAGE.name} has lost the lines between which the states of {machine} are drawn")
        page = f"{before}{begin}\n\n{drawn(explained, arrows)}\n\n{end}{after}"
    return page


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    current = drawn_into(page)
    if "--check" in sys.argv[1:]:
        if current != page:
            print("docs/groups.md is not current: run scripts/draw_group_states.py")
        return int(current != page)
    PAGE.write_text(current, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
