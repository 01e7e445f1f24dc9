"""Sizes as a ratchet: no function may grow past 60 lines, no file past 600, unless it is listed as known.

`scripts/size_ratchet.txt` holds what was already over the line, with its size: an entry may shrink, never
grow, and must be removed once it is under the line. Generated files are not counted.
"""

import ast
import sys
from pathlib import Path

FUNCTION_LINES_MAX = 60
FILE_LINES_MAX = 600
ROOT = Path(__file__).resolve().parent.parent
KNOWN = ROOT / "scripts" / "size_ratchet.txt"
GENERATED = ROOT / "src" / "fencepost" / "wire" / "messages"


def oversized() -> dict[str, int]:
    """Every function and file of `src` that is over its line, by name."""
    found: dict[str, int] = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        if GENERATED in path.parents:
            continue
        source = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        if (lines := source.count("\n")) > FILE_LINES_MAX:
            found[name] = lines
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES_MAX:
                    found[f"{name}:{node.name}"] = lines
    return found


def known() -> dict[str, int]:
    if not KNOWN.exists():
        return {}
    rows = (line.split() for line in KNOWN.read_text(encoding="utf-8").splitlines() if line.strip())
    return {name: int(lines) for name, lines in rows}


def main() -> int:
    found, allowed = oversized(), known()
    grown = {name: lines for name, lines in found.items() if lines > allowed.get(name, 0)}
    stale = sorted(set(allowed) - set(found))
    for name, lines in grown.items():
        print(f"{name}: {lines} lines; split it (a function ends at {FUNCTION_LINES_MAX}, a file at {FILE_LINES_MAX})")
    for name in stale:
        print(f"{name}: under the line again; remove it from {KNOWN.relative_to(ROOT)}")
    return 1 if grown or stale else 0


if __name__ == "__main__":
    sys.exit(main())
