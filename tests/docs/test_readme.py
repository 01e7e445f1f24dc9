"""What the README shows: its programs run, its links lead somewhere, its make targets exist."""

import re
from pathlib import Path

import pytest

from fencepost.server.embedded import EmbeddedBroker

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
ADDRESS = "127.0.0.1:9092"


def programs() -> list[str]:
    return re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_its_programs_run(fencepost_broker: EmbeddedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    transaction, embedded = programs()
    assert transaction.count(ADDRESS) == 2
    exec(compile(transaction.replace(ADDRESS, fencepost_broker.bootstrap_servers), "README.md", "exec"), {})
    assert "purchase-1" in capsys.readouterr().out
    exec(compile(embedded, "README.md", "exec"), {})
    assert re.fullmatch(r"127\.0\.0\.1:\d+\n", capsys.readouterr().out)


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([\w./-]+)\)", TEXT)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_its_folders_and_files_exist() -> None:
    named = re.findall(r"(examples/[\w./-]+)", TEXT)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_its_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)\b", TEXT)) - {"one"} <= targets
