"""Every program of the explanation pages prints on our broker, to the letter, what its page shows."""

from pathlib import Path

import pytest

from tests.limitations.pages import DISAGREE, FOLDERS, LIMITATIONS, ROOT, Shown, run, run_as_shown, shown_on

ALL = [*shown_on(DISAGREE), *shown_on(LIMITATIONS)]
LONG = {
    "examples.limitations.other_clusters",
    "examples.limitations.external_effects",
    "examples.limitations.several_producers",
    "examples.limitations.two_phase",
}
"""Stages that are killed and started again as processes."""


def programs_in(folder: Path) -> set[str]:
    """Those that a person starts; stages that are killed are started by them, with arguments that are required."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    started = [name for name, text in texts.items() if "story_arguments(" in text or "--apache-kafka" in text]
    return {f"examples.{folder.name}.{name}" for name in started}


@pytest.mark.parametrize(
    "shown", [pytest.param(each, marks=[pytest.mark.deep] * (each.module in LONG), id=each.name) for each in ALL]
)
def test_a_program_prints_what_its_page_shows(shown: Shown) -> None:
    assert run(shown.module) == shown.printed


def test_a_program_is_started_as_its_page_says() -> None:
    """One as a process; of the others the last lines, by which they are programs."""
    assert run_as_shown(ALL[0].module) == ALL[0].printed
    for shown in ALL:
        source = Path(*shown.module.split(".")).with_suffix(".py")
        assert (ROOT / source).read_text(encoding="utf-8").endswith('if __name__ == "__main__":\n    main()\n')


@pytest.mark.parametrize("page", [DISAGREE, LIMITATIONS], ids=lambda page: page.stem)
def test_every_program_is_on_its_page(page: Path) -> None:
    assert {shown.module for shown in shown_on(page)} == programs_in(FOLDERS[page])


@pytest.mark.parametrize("folder", FOLDERS.values(), ids=lambda folder: folder.name)
def test_every_file_is_in_the_readme_of_its_folder(folder: Path) -> None:
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in folder.glob("*.py") if f"]({path.name})" not in readme] == []


def test_a_page_says_of_every_program_that_asks_a_broker_what_apache_kafka_prints() -> None:
    assert {shown.name for shown in ALL if shown.on_kafka is None} == {"questions.defaults"}
