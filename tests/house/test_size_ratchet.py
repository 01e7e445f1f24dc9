"""The size ratchet must be able to fail."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ratchet() -> ModuleType:
    spec = importlib.util.spec_from_file_location("size_ratchet", ROOT / "scripts" / "size_ratchet.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(ratchet: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "scripts").mkdir()
    monkeypatch.setattr(ratchet, "ROOT", tmp_path)
    monkeypatch.setattr(ratchet, "KNOWN", tmp_path / "scripts" / "size_ratchet.txt")
    return tmp_path


def function_of(lines: int) -> str:
    return "def long_one():\n" + "    pass\n" * (lines - 1)


def test_a_function_at_the_line_passes(ratchet: ModuleType, tree: Path) -> None:
    (tree / "src" / "a.py").write_text(function_of(60))
    assert ratchet.main() == 0


def test_a_function_that_crosses_the_line_fails(ratchet: ModuleType, tree: Path) -> None:
    (tree / "src" / "a.py").write_text(function_of(71))
    assert ratchet.main() == 1


def test_a_known_long_function_may_stay_but_not_grow(ratchet: ModuleType, tree: Path) -> None:
    ratchet.KNOWN.write_text("src/a.py:long_one 80\n")
    (tree / "src" / "a.py").write_text(function_of(80))
    assert ratchet.main() == 0
    (tree / "src" / "a.py").write_text(function_of(81))
    assert ratchet.main() == 1


def test_a_known_function_that_shrank_must_leave_the_list(ratchet: ModuleType, tree: Path) -> None:
    ratchet.KNOWN.write_text("src/a.py:long_one 80\n")
    (tree / "src" / "a.py").write_text(function_of(10))
    assert ratchet.main() == 1
