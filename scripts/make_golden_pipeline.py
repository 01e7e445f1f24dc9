"""Writes the golden folders of a chain of pipelines, `tests/golden/v1/pipeline`: the broker's data (topics, ledgers,
committed offsets) and Spark's checkpoints, one of them with state.

Run it once per format, never again for a released one: later versions must go on from what is checked in. The chain has
run twice; then it is as if its drivers had been killed between the sink's last commit and Spark's, and more input has
come since.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fencepost.client import Admin, Producer
from fencepost.journal.segment_header import FORMAT_VERSION
from fencepost.server.embedded import EmbeddedBroker
from fencepost.server.file_disk import LOCK_NAME

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "golden" / f"v{FORMAT_VERSION}" / "pipeline"
CHAIN = ROOT / "examples" / "pipelines" / "chain.py"
SETTINGS = {"num.partitions": "2"}


def transfer(number: int) -> dict[str, object]:
    return {"number": f"{number}", "payer": f"a{number % 5}", "payee": f"a{(number + 1) % 5}", "amount": number}


def write(servers: str, start: int, end: int) -> None:
    with Producer(servers) as producer:
        for number in range(start, end):
            producer.send("transfer", json.dumps(transfer(number)).encode(), key=b"%d" % number)


def run_chain(servers: str, checkpoint: Path) -> None:
    command = [sys.executable, "-m", "fencepost", "run", str(CHAIN), "--once", "--json"]
    command += ["--bootstrap-servers", servers, "--checkpoint", str(checkpoint)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def forget_last_commit(commits: Path) -> None:
    """As if the driver had been killed between the sink's commit and Spark's."""
    max(commits.glob("[0-9]*"), key=lambda path: int(path.name)).unlink()


def make(folder: Path) -> None:
    with EmbeddedBroker(data=folder / "data", settings=SETTINGS) as broker:
        servers = broker.bootstrap_servers
        with Admin(servers) as admin:
            admin.create_topic("transfer", 2)
        for start in (0, 20):
            write(servers, start, start + 20)
            run_chain(servers, folder / "checkpoint")
        write(servers, 40, 50)
    for commits in (folder / "checkpoint").rglob("commits"):
        forget_last_commit(commits)


def main() -> int:
    if FOLDER.exists() and "--force" not in sys.argv:
        print(f"{FOLDER.relative_to(ROOT)} is there, and a released format never changes; --force writes it anew")
        return 1
    with tempfile.TemporaryDirectory() as made:
        make(Path(made))
        for leftover in [*Path(made).rglob("*.crc"), *Path(made).rglob("*.tmp"), *Path(made).rglob(LOCK_NAME)]:
            leftover.unlink()
        shutil.rmtree(FOLDER, ignore_errors=True)
        shutil.copytree(made, FOLDER)
    for path in sorted(path for path in FOLDER.rglob("*") if path.is_file()):
        print(f"{path.stat().st_size:>7} {path.relative_to(FOLDER)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
