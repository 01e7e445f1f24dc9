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
    """Three files of 120 lines, one of which imports another: as much as the ratios allow."""
    monkeypatch.setattr(ratchet, "ROOT", tmp_path)
    monkeypatch.setattr(
        ratchet, "LIMITS", (ratchet.LIMITS[0], *(each._replace(high=0.34) for each in ratchet.LIMITS[1:]))
    )
    (tmp_path / "src").mkdir()
    write(tmp_path, "a", "import b")
    write(tmp_path, "b")
    write(tmp_path, "c")
    return tmp_path


def write(tree: Path, name: str, *lines: str, length: int = 120) -> None:
    (tree / "src" / f"{name}.py").write_text("\n".join([*lines, *["x = 1"] * (length - len(lines))]) + "\n")


def function_of(lines: int) -> str:
    return "def long_one():\n" + "    pass\n" * (lines - 2) + "    pass"


@pytest.mark.parametrize(("lines", "code"), [(60, 0), (61, 1)])
def test_a_function_ends_at_60_lines(ratchet: ModuleType, tree: Path, lines: int, code: int) -> None:
    write(tree, "c", function_of(lines))
    assert ratchet.main([]) == code


@pytest.mark.parametrize(("lines", "code"), [(600, 0), (601, 1)])
def test_a_file_ends_at_600_lines(ratchet: ModuleType, tree: Path, lines: int, code: int) -> None:
    write(tree, "c", length=lines)
    assert ratchet.main([]) == code


@pytest.mark.parametrize("length", [99, 161])
def test_the_median_file_is_neither_small_nor_large(ratchet: ModuleType, tree: Path, length: int) -> None:
    for name in "abc":
        write(tree, name, *(["import b"] if name == "a" else []), length=length)
    assert ratchet.main([]) == 1


def test_modules_with_one_importer_are_counted(
    ratchet: ModuleType, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tree, "b", "from c import x")
    assert ratchet.main([]) == 1
    assert "share of modules with exactly one importer: 0.667" in capsys.readouterr().out
    write(tree, "a", "import b", "import c")
    assert ratchet.main([]) == 0


def test_imports_are_counted_by_their_lines(ratchet: ModuleType, tree: Path) -> None:
    write(tree, "c", "from os import (", *["    path,"] * 118, ")")
    assert ratchet.main([]) == 0
    write(tree, "b", "from os import (", *["    path,"] * 118, ")")
    assert ratchet.main([]) == 1


def test_generated_files_are_not_counted(ratchet: ModuleType, tree: Path) -> None:
    folder = tree / ratchet.GENERATED
    folder.mkdir(parents=True)
    (folder / "made.py").write_text(function_of(1000))
    assert ratchet.main([]) == 0


def test_the_table_is_printed_on_request(ratchet: ModuleType, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ratchet.main([]) == 0
    assert capsys.readouterr().out == ""
    assert ratchet.main(["--print"]) == 0
    assert "lines of the median file" in capsys.readouterr().out
