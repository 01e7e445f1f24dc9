"""The page about groups is drawn from the tables."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_diagrams_of_the_page_are_current():
    script = ROOT / "scripts" / "draw_group_states.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
