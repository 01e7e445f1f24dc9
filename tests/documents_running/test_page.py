"""The page of the documents is current, and every test and README that it names is there."""

import ast
import re
import subprocess
import sys
from pathlib import Path

from examples.documents.failures import BOOK, DEEP_DIVE, IDEMPOTENCE
from examples.documents.programs import VERSIONS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "documents-running.md"


def test_the_page_is_current() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "generate_documents_page.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_test_that_the_page_names_exists() -> None:
    links = re.findall(r"\[(test_\w+)\]\(([\w./-]+)\)", PAGE.read_text(encoding="utf-8"))
    assert len(links) == len(BOOK) + len(DEEP_DIVE) + len(IDEMPOTENCE)
    for name, path in links:
        tree = ast.parse((PAGE.parent / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_file_that_the_page_and_the_readmes_link_to_exists() -> None:
    pages = [PAGE, *(ROOT / "examples" / "documents").rglob("README.md")]
    assert len(pages) > 5
    for page in pages:
        links = re.findall(r"\]\(([\w./-]+)\)", page.read_text(encoding="utf-8"))
        assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_program_has_a_readme_that_gives_its_command() -> None:
    for program in {version.program for version in VERSIONS}:
        readme = ROOT / "examples" / "documents" / program / "README.md"
        assert f"python -m examples.documents.{program}" in readme.read_text(encoding="utf-8")
