"""Every folder of examples has a README with a command for each of its programs, and each command runs as it stands."""

import re
from pathlib import Path

import pytest

from fencepost.client import Admin, read_arrow
from fencepost.server.embedded import EmbeddedBroker
from tests.examples.readme_commands import EXAMPLES, ROOT, Checkout, commands_in

pytestmark = pytest.mark.timeout(1800)
READMES = sorted(EXAMPLES.rglob("README.md"))
PIPELINES = EXAMPLES / "pipelines" / "README.md"
SQUARES = EXAMPLES / "documents" / "squares" / "README.md"
QUICK = (
    "examples.arrow.with_pandas",
    "examples.arrow.with_polars",
    "examples.documents.database",
    "examples.limitations.slow_reader",
    "examples.notebook",
    "examples.questions.end_txn",
)
"""Everything else may take a minute."""


def is_run_here(readme: Path, command: str) -> bool:
    """Pipelines and stages run until they are told to end; the documents' programs, which take minutes, and their
    stories are played in tests/documents_running."""
    is_played_elsewhere = "-m examples.documents" in command and command.split("-m ")[-1] not in QUICK
    return readme != PIPELINES and not is_played_elsewhere


def cases() -> list[object]:
    """Each command once, under the first README that gives it."""
    found = {
        command: readme.parent.name
        for readme in reversed(READMES)
        for command in commands_in(readme)
        if is_run_here(readme, command)
    }
    return [
        pytest.param(
            command,
            marks=() if command.split("-m ")[-1] in QUICK else (pytest.mark.deep,),
            id=f"{folder}: {command}",
        )
        for command, folder in found.items()
    ]


def programs() -> list[str]:
    """What can be started by its name: modules for people, and files with pipelines."""
    found = list(EXAMPLES.rglob("__main__.py"))
    found += [path for path in EXAMPLES.glob("arrow/*.py") if "__main__" in path.read_text(encoding="utf-8")]
    modules = [path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".") for path in found]
    pipelines = [path.relative_to(ROOT).as_posix() for path in EXAMPLES.glob("pipelines/*.py")]
    return sorted([f"-m {module.removesuffix('.__main__')}" for module in modules] + pipelines)


@pytest.fixture
def checkout(tmp_path: Path, fencepost_broker: EmbeddedBroker) -> Checkout:
    return Checkout(tmp_path, fencepost_broker.bootstrap_servers)


@pytest.mark.parametrize("folder", sorted(path for path in EXAMPLES.iterdir() if path.is_dir()), ids=lambda it: it.name)
def test_every_folder_has_a_readme_with_commands(folder: Path) -> None:
    assert commands_in(folder / "README.md")


@pytest.mark.parametrize("program", programs())
def test_every_program_has_a_command(program: str) -> None:
    commands = [command for readme in READMES for command in commands_in(readme)]
    assert [command for command in commands if re.search(rf"{re.escape(program)}(\s|$)", command)]


@pytest.mark.parametrize("command", cases())
def test_a_command_runs_as_it_stands(checkout: Checkout, command: str) -> None:
    assert checkout.run(command).strip(), "it says what it did"


@pytest.mark.deep
def test_the_stages_of_the_squares_run_each_in_its_terminal(checkout: Checkout) -> None:
    numbers, squares, shown = [command for command in commands_in(SQUARES) if "_stage" in command]
    with Admin(checkout.servers) as admin:
        for topic in ("tx-input", "tx-output"):
            admin.create_topic(topic, 3)
    count = int(numbers.split("--count ")[1].split()[0])
    with checkout.running(squares), checkout.running(shown) as output:
        checkout.run(numbers)
        assert output.stdout is not None
        lines = [output.stdout.readline() for _ in range(count)]
    assert sorted(int(line.split()[-1]) for line in lines) == [number**2 for number in range(count)]
    assert read_arrow(checkout.servers, "tx-output").num_rows == count
