"""The explanation pages: names that they give are in the code, commands exist and run, links lead somewhere."""

import ast
import importlib.util
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from fencepost.server.embedded import EmbeddedBroker
from tests.cli.running import Printed, run_command

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "explanation"
CONCEPTS, DISAGREE = PAGES / "concepts.md", PAGES / "documents-disagree.md"
NAMED = re.compile(r"\[([\w/]+\.py)\]\((\.\./\.\./src/fencepost/[\w/]+\.py)\) `([\w.]+)`")
COMMAND = re.compile(r"`((?:fencepost|python -m) [^`]+)`")
SHELL_BLOCK = re.compile(r"```bash\n((?:.*\n)*?)```\n(?:\n```text\n((?:.*\n)*?)```)?")
ALL_PAGES = [CONCEPTS, DISAGREE, PAGES / "limitations.md"]


@cache
def names_in(path: Path) -> frozenset[str]:
    """Functions, classes, and methods and properties as `Class.name`."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
    return frozenset(names)


def rows_of_concepts() -> list[str]:
    return [line for line in CONCEPTS.read_text(encoding="utf-8").splitlines() if line.count(" | ") == 3]


def commands_of_concepts() -> list[str]:
    found = [command for row in rows_of_concepts() for command in COMMAND.findall(row.rpartition(" | ")[2])]
    return list(dict.fromkeys(found))


def run_line(line: str, broker: EmbeddedBroker) -> Printed:
    """A command, perhaps with the words of an `echo` piped into it."""
    typed, pipe, command = line.rpartition(" | ")
    words = shlex.split(typed)[1:] if pipe else []
    assert not pipe or typed.startswith("echo ")
    return run_command(*shlex.split(command)[1:], typed=" ".join(words) + "\n", servers=broker.bootstrap_servers)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedBroker]:
    """A folder in which a broker works on `./data`, and from which the examples are found."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    with EmbeddedBroker(data=tmp_path / "data") as broker:
        yield broker


def test_every_name_that_a_concept_is_mapped_to_is_in_its_file() -> None:
    named = NAMED.findall(CONCEPTS.read_text(encoding="utf-8"))
    assert len(named) > 40
    for shown, link, name in named:
        path = (CONCEPTS.parent / link).resolve()
        assert link.endswith(f"/src/fencepost/{shown}"), link
        assert name in names_in(path), f"{shown} has no {name}"


def test_every_concept_has_a_place_and_a_command() -> None:
    rows = [row for row in rows_of_concepts() if not row.startswith(("| concept |", "|---"))]
    assert len(rows) > 35
    for row in rows:
        _, _, place, command = row.removeprefix("| ").removesuffix(" |").split(" | ")
        assert NAMED.search(place) or place.startswith("not in the package"), row
        assert COMMAND.fullmatch(command), row


def test_the_commands_of_the_concepts_run_in_the_scene_that_the_page_makes(scene: EmbeddedBroker) -> None:
    script, _ = SHELL_BLOCK.findall(CONCEPTS.read_text(encoding="utf-8"))[0]
    commands = [command for command in commands_of_concepts() if command.startswith("fencepost ")]
    assert len(commands) > 10
    for line in [*script.splitlines(), *commands]:
        printed = run_line(line, scene)
        assert printed.exit_code == 0, f"{line}\n{printed}"
        assert "Traceback" not in printed.err
        assert printed.out or printed.err, f"{line} says nothing"


def test_the_index_of_aborted_transactions_has_the_line_of_the_document(scene: EmbeddedBroker) -> None:
    blocks = [block for block in SHELL_BLOCK.findall(DISAGREE.read_text(encoding="utf-8")) if "fencepost" in block[0]]
    assert len(blocks) == 1
    (script, shown), *_ = blocks
    *_, last = [run_line(line, scene) for line in script.splitlines()]
    assert last.out == shown != ""


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.stem)
def test_the_programs_that_a_page_names_exist_and_know_their_options(page: Path) -> None:
    commands = set(re.findall(r"python -m\s+(examples\.[\w.]+(?:\s+--\w+[- ]\w+)*)", page.read_text(encoding="utf-8")))
    assert commands
    for command in commands:
        module, *options = command.split()
        assert importlib.util.find_spec(module) is not None, module
        if options:
            line = [sys.executable, "-m", module, *options, "--help"]
            assert subprocess.run(line, cwd=ROOT, capture_output=True, check=False).returncode == 0, command


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.stem)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", page.read_text(encoding="utf-8"))
    assert len(links) > 5
    for link, anchor in links:
        target = (page.parent / link).resolve() if link else page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), f"{link}#{anchor}"


@cache
def anchors_of(page: Path) -> frozenset[str]:
    """As a heading is called in a link: lower case, words joined by hyphens, punctuation dropped."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return frozenset(re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)
