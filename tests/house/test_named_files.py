"""Files that pages and comments name exist: a fold or a rename takes its mentions along."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PATH = re.compile(r"(?<![\w./{}*-])((?:[a-z_]+/)+[a-z_]+\.py)\b")
PAGES = [ROOT / "ARCHITECTURE.md", ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = [path for path in sorted((ROOT / "src").rglob("*.py")) if "wire/messages" not in path.as_posix()]
FILES = {
    path.relative_to(ROOT).as_posix()
    for folder in ("src", "tests", "examples", "benchmarks", "scripts")
    for path in (ROOT / folder).rglob("*.py")
}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_that_a_page_names_exist(path: Path) -> None:
    assert missing(path) == []


def test_files_that_comments_name_exist() -> None:
    assert {path.name: found for path in SOURCES if (found := missing(path))} == {}


def test_a_file_that_is_gone_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("see `partition/append.py` and `partition/appending.py`")
    assert missing(page) == ["partition/appending.py"]


def missing(path: Path) -> list[str]:
    named = PATH.findall(path.read_text(encoding="utf-8"))
    return [name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in FILES)]
