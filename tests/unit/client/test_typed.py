"""Programs that use the client are checked by its types."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

PROGRAM = """
from fencepost.client import Consumer, ConsumerRecord, Producer, RecordMetadata


def copy(servers: str) -> list[RecordMetadata]:
    with Producer(servers, transactional_id="t") as producer, Consumer(servers, ["a"], group_id="g") as consumer:
        producer.init_transactions()
        records: list[ConsumerRecord] = consumer.poll(1.0)
        with producer.transaction(consumer) as txn:
            futures = [txn.send("b", record.value, partition=record.partition) for record in records]
        return [future.result(0) for future in futures]
"""


def test_the_package_says_that_it_is_typed() -> None:
    assert (files("fencepost") / "py.typed").is_file()


@pytest.mark.deep
def test_a_checker_follows_the_types_through_a_program_and_finds_its_mistakes(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(PROGRAM)
    wrong.write_text(PROGRAM.replace("consumer.poll(1.0)", "consumer.poll('1.0')").replace("-> list[", "-> dict["))
    assert check(right, tmp_path) == ""
    said = check(wrong, tmp_path)
    assert 'Argument 1 to "poll" of "Consumer"' in said
    assert "Incompatible return value" in said or "dict" in said


def check(program: Path, folder: Path) -> str:
    """What mypy finds in the program itself."""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder), "--follow-imports", "silent"]
    done = subprocess.run([*command, str(program)], cwd=folder, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr
