"""What the explanation pages show: which program each of them runs, and what it prints, here and on Apache Kafka."""

import io
import re
import subprocess
import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "explanation"
DISAGREE, LIMITATIONS = PAGES / "documents-disagree.md", PAGES / "limitations.md"
FOLDERS = {DISAGREE: ROOT / "examples" / "questions", LIMITATIONS: ROOT / "examples" / "limitations"}
RUN_TIMEOUT_S = 300
SHOWN = re.compile(
    r"```bash\npython -m (?P<module>examples\.(?:questions|limitations)\.\w+)\n```\n\n"
    r"```text\n(?P<printed>.*?)```\n"
    r"(?:\nApache Kafka 4\.3\.1 prints(?P<same> the same\.)?(?::\n\n```text\n(?P<other>.*?)```\n)?)?",
    re.DOTALL,
)


class Shown(NamedTuple):
    module: str
    printed: str
    on_kafka: str | None
    """None where the page says nothing about Apache Kafka."""

    @property
    def name(self) -> str:
        return self.module.removeprefix("examples.")


def shown_on(page: Path) -> list[Shown]:
    found = []
    for match in SHOWN.finditer(page.read_text(encoding="utf-8")):
        on_kafka = match["printed"] if match["same"] else match["other"]
        found.append(Shown(match["module"], match["printed"], on_kafka))
    return found


def run(module: str, *arguments: str) -> str:
    """What the program prints, run in this process, which has imported the client already."""
    printed = io.StringIO()
    with patch.object(sys, "argv", [module, *arguments]), redirect_stdout(printed):
        import_module(module).main()
    return printed.getvalue()


def run_as_shown(module: str) -> str:
    """What the command of the page prints, at the root of the checkout."""
    command = [sys.executable, "-m", module]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=RUN_TIMEOUT_S).stdout
