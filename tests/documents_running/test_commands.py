"""The command that each README gives: it runs by itself or on a broker that is named, and ends with its table."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples.documents.programs import VERSIONS
from examples.documents.stage import Broker

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "documents"
QUICK = "database"
OTHERS = sorted({version.program for version in VERSIONS} - {QUICK})


def run(program: str, *arguments: str) -> str:
    command = [sys.executable, "-m", f"examples.documents.{program}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=500)
    assert done.returncode == 0, done.stderr
    return done.stdout


def shown_in_readme(program: str) -> str:
    found = re.search(r"```text\n(.*?)```", (EXAMPLES / program / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def names_and_columns(table: str) -> tuple[list[str], list[str]]:
    header, *rows = table.splitlines()
    return header.split(), [re.split(r"\s{2,}", row)[0] for row in rows]


def test_the_quick_one_prints_what_its_readme_shows() -> None:
    assert run(QUICK) == shown_in_readme(QUICK)


def test_a_broker_can_be_named(broker: Broker) -> None:
    first = run(QUICK, "--bootstrap-servers", broker.bootstrap_servers)
    again = run(QUICK, "--bootstrap-servers", broker.bootstrap_servers)
    assert first == again == shown_in_readme(QUICK)


@pytest.mark.deep
@pytest.mark.parametrize("program", OTHERS)
def test_each_prints_a_table_like_the_one_in_its_readme(program: str) -> None:
    assert names_and_columns(run(program)) == names_and_columns(shown_in_readme(program))


@pytest.mark.parametrize("program", [QUICK, *OTHERS])
def test_the_readme_shows_the_harm_that_is_declared(program: str) -> None:
    header, *rows = shown_in_readme(program).splitlines()
    columns = header.split()
    declared = {version.name: version for version in VERSIONS if version.program == program}
    assert [re.split(r"\s{2,}", row)[0] for row in rows] == list(declared)
    for row in rows:
        name, *cells = re.split(r"\s{2,}", row.rstrip())
        shown = {
            column for column, cell in zip(columns, cells, strict=False) if column not in ("in", "out") and cell != "0"
        }
        assert shown & {"lost", "repeated", "torn", "reordered"} == declared[name].harm
