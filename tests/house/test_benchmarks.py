"""Benchmarks are no part of the tests, and must not rot: each of their modules can at least be loaded."""

import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def test_every_module_of_the_benchmarks_can_be_loaded() -> None:
    paths = [path.relative_to(BENCHMARKS).with_suffix("") for path in sorted(BENCHMARKS.rglob("*.py"))]
    names = [".".join(path.parts) for path in paths]
    assert "pipeline_parts.engine_program" in names
    code = f"import sys, importlib; sys.path.insert(0, {str(BENCHMARKS)!r})\n"
    code += f"for name in {names!r}: importlib.import_module(name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
