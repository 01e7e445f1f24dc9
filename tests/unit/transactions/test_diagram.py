import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_diagram_in_the_docs_is_drawn_from_the_table() -> None:
    check = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "draw_transaction_states.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert check.returncode == 0, check.stdout + check.stderr
