"""The page of fault scenarios is complete, and every test that it names exists where it says."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "fault-scenarios.md"
SCENARIOS = range(1, 54)
ROW = re.compile(r"^\| (\d+) \| (.*) \|$", flags=re.MULTILINE)
TEST_LINK = re.compile(r"\[(test_\w+)\]\(([\w./-]+)\)")


@cache
def names_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def rows() -> dict[int, str]:
    return {int(number): rest for number, rest in ROW.findall(PAGE.read_text(encoding="utf-8"))}


def test_every_scenario_has_its_row() -> None:
    assert list(rows()) == list(SCENARIOS)


@pytest.mark.parametrize("number", SCENARIOS)
def test_every_scenario_names_a_test_that_drives_the_whole_broker(number: int) -> None:
    assert any("/scenarios/" in path for _, path in TEST_LINK.findall(rows()[number]))


def test_every_test_that_the_page_names_exists() -> None:
    links = TEST_LINK.findall(PAGE.read_text(encoding="utf-8"))
    missing = [name for name, path in links if name not in names_in((PAGE.parent / path).resolve())]
    assert len(links) > len(SCENARIOS)
    assert not missing


def test_every_scenario_test_with_a_number_is_on_the_page() -> None:
    """And the other way round: the docstring of a test says which scenario it shows."""
    page = rows()
    folder = PAGE.parents[1] / "tests" / "scenarios"
    for path in sorted(folder.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for number in numbers_of(ast.get_docstring(node) or ""):
                    assert node.name in page[number], f"{node.name} says that it shows scenario {number}"


def numbers_of(docstring: str) -> list[int]:
    said = re.match(r"Scenarios? ([\d, and]+)", docstring)
    return [int(number) for number in re.findall(r"\d+", said[1])] if said else []
