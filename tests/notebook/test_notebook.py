"""The notebook runs from its first cell to its last and shows what is saved in it; what is saved can be shown to
everybody.
"""

import copy
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat import NotebookNode

from examples.notebook.__main__ import NOTEBOOK, PICTURE, differences, load, picture, shown

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def saved() -> NotebookNode:
    return load(NOTEBOOK)


def run_it(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """With folders of its own for what Jupyter and IPython write beside it."""
    folders = {"JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"), "IPYTHONDIR": str(tmp_path / "ipython")}
    command = [sys.executable, "-m", "examples.notebook", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=580, env={**os.environ, **folders}, check=False
    )


def test_every_cell_shows_what_is_saved(tmp_path: Path, saved: NotebookNode) -> None:
    done = run_it(tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{len(shown(saved))} cells show what is saved in {NOTEBOOK.name}\n")


def test_a_cell_that_shows_something_else_is_named(saved: NotebookNode) -> None:
    fresh = copy.deepcopy(saved)
    [cell] = [cell for cell in fresh.cells if cell.id == "abort"]
    cell.outputs[-1].data["text/plain"] = cell.outputs[-1].data["text/plain"].replace("aborted", "committed")
    found = differences(saved, fresh)
    assert found[:2] == ["--- abort, saved", "+++ abort, shown"]
    assert any(line.startswith("-3       aborted") for line in found)
    assert differences(saved, saved) == []


def test_what_is_saved_came_from_one_run_in_order(saved: NotebookNode) -> None:
    code = [cell for cell in saved.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))


def test_nothing_of_a_machine_is_saved(saved: NotebookNode) -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert not re.search(r"/home/|/root|/tmp|/work|127\.0\.0\.1|localhost|\d\d:\d\d:\d\d|20\d\d-\d\d-\d\d", text)
    outputs = [output for cell in saved.cells if cell.cell_type == "code" for output in cell.outputs]
    assert {output.output_type for output in outputs} == {"stream", "execute_result", "display_data"}
    assert {output.name for output in outputs if output.output_type == "stream"} == {"stdout"}


def test_the_page_shows_a_picture_of_the_notebook(saved: NotebookNode) -> None:
    assert PICTURE.read_text(encoding="utf-8") == picture(saved)
    page = (PICTURE.parent / "notebook.md").read_text(encoding="utf-8")
    assert f"]({PICTURE.name})" in page
    assert f"](../{NOTEBOOK.relative_to(ROOT)})" in page
