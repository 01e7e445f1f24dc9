"""Sizes as a ratchet: hard lines for functions and files, and ratios that keep the house from growing back.

python scripts/size_ratchet.py            fail where a line or a ratio is passed
python scripts/size_ratchet.py --print    the ratios, with their limits, and what is nearest to the lines

Ratios, not sums: later work may add rooms. Generated files and empty ones (`__init__.py`) are not counted.
"""

import argparse
import ast
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

FUNCTION_LINES_MAX = 60
FILE_LINES_MAX = 600
ROOT = Path(__file__).resolve().parent.parent
GENERATED = "src/fencepost/wire/messages/"


class Limit(NamedTuple):
    name: str
    low: float
    high: float
    advice: str


LIMITS = (
    Limit("lines of the median file", 100, 160, "a file is a whole idea: fold what is small, split what is two"),
    Limit("share of modules with exactly one importer", 0, 0.235, "fold a module into its only importer"),
    Limit("import lines per line", 0, 0.09, "fold modules that only pass each other names"),
)


class Module(NamedTuple):
    name: str
    """As it is imported."""
    path: str
    lines: int
    import_lines: int
    imports: set[str]
    """Modules, and names in modules."""
    functions: dict[str, int]
    """Lines of each."""


def read_modules() -> list[Module]:
    modules = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        source = path.read_text(encoding="utf-8")
        if source and not place.startswith(GENERATED):
            name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
            modules.append(_module(name, place, source))
    return modules


def _module(name: str, path: str, source: str) -> Module:
    import_lines, imports, functions = 0, set(), {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            import_lines += _lines(node)
            base = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            imports.update(base, (".".join([*base, alias.name]) for alias in node.names))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions[node.name] = max(_lines(node), functions.get(node.name, 0))
    return Module(name, path, source.count("\n"), import_lines, imports, functions)


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def oversized(modules: list[Module]) -> dict[str, int]:
    """Every function and file that is over its line, by name."""
    found = {module.path: module.lines for module in modules if module.lines > FILE_LINES_MAX}
    for module in modules:
        found |= {f"{module.path}:{name}": n for name, n in module.functions.items() if n > FUNCTION_LINES_MAX}
    return found


def ratios(modules: list[Module]) -> dict[str, float]:
    importers: dict[str, set[str]] = defaultdict(set)
    for module in modules:
        for name in module.imports:
            importers[name].add(module.name)
    one_importer = [module for module in modules if len(importers[module.name] - {module.name}) == 1]
    total = sum(module.lines for module in modules)
    values = (
        median(module.lines for module in modules),
        len(one_importer) / len(modules),
        sum(module.import_lines for module in modules) / total,
    )
    return {limit.name: value for limit, value in zip(LIMITS, values, strict=True)}


def print_table(modules: list[Module]) -> None:
    found = ratios(modules)
    for name, low, high, _ in LIMITS:
        print(f"{name:<45} {found[name]:8.3g}   {low:g} to {high:g}")
    for module in sorted(modules, key=lambda each: -each.lines)[:5]:
        print(f"{module.path:<60} {module.lines} lines of {FILE_LINES_MAX}")
    functions = [(n, f"{module.path}:{name}") for module in modules for name, n in module.functions.items()]
    for lines, name in sorted(functions, reverse=True)[:5]:
        print(f"{name:<60} {lines} lines of {FUNCTION_LINES_MAX}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", dest="is_asked", help="print the ratios")
    is_asked = parser.parse_args(arguments).is_asked
    modules = read_modules()
    if is_asked:
        print_table(modules)
    over, found = oversized(modules), ratios(modules)
    for name, lines in over.items():
        print(f"{name}: {lines} lines; split it (a function ends at {FUNCTION_LINES_MAX}, a file at {FILE_LINES_MAX})")
    outside = [limit for limit in LIMITS if not limit.low <= found[limit.name] <= limit.high]
    for name, low, high, advice in outside:
        print(f"{name}: {found[name]:.3g}, allowed are {low:g} to {high:g}; {advice}")
    return 1 if over or outside else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
