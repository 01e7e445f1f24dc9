"""Every example in the help of a command does what it says it does: run as it stands, on both brokers, one after the
other, as a reader of the page would."""

import json
import os
import re
import shlex
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest

from fencepost.cli.main import WIDTH, examples, help_text, walk_commands
from fencepost.server.embedded import EmbeddedBroker
from tests.cli.conftest import Folder
from tests.cli.running import Cli, Printed, run_command

ONLINE = ("topics", "produce", "consume", "groups", "txn", "completion")
SHELL_SIGNS = (">", "<(")
OPEN = ["-p", "0", "--transactional-id", "shop-0", "--leave-open", "-X", "transaction.timeout.ms=600000"]


Leaf = tuple[str, click.Command]


def leaves(*names: str) -> list[Leaf]:
    """Commands that are no groups: those with one of these names and those below them, or all."""
    return [
        (name, command)
        for name, command in walk_commands()
        if not isinstance(command, click.Group) and (not names or name.split()[1] in names)
    ]


def run_example(line: str, *, servers: str) -> Printed:
    """In this process if it is a command, perhaps with something piped into it; by a shell if it is more."""
    typed, pipe, command = line.rpartition(" | ")
    if not any(sign in command for sign in SHELL_SIGNS):
        piped = subprocess.run(["bash", "-c", typed], capture_output=True, check=True).stdout if pipe else b""
        return run_command(*shlex.split(command)[1:], typed=piped, servers=servers)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "KAFKA_BOOTSTRAP_SERVERS": servers, "PATH": path}
    shell = ["bash", "-o", "pipefail", "-c", line]
    done = subprocess.run(shell, capture_output=True, text=True, timeout=120, env=environment, check=False)
    return Printed(done.returncode, done.stdout, done.stderr)


def check(line: str, printed: Printed) -> None:
    assert printed.exit_code == 0, f"{line}\n{printed}"
    assert "Traceback" not in printed.err
    if "--json" in line:
        is_stream = "consume" in line or "log dump" in line
        documents = printed.json_lines() if is_stream else [json.loads(printed.out)]
        assert all(isinstance(document, dict | list) for document in documents), line


@pytest.mark.parametrize("kind", ["fencepost", pytest.param("kafka", marks=pytest.mark.kafka)])
def test_the_examples_of_all_commands_that_talk_to_a_cluster(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    servers: str = request.getfixturevalue(f"{kind}_servers")
    cli = Cli(servers)
    for name, command in leaves(*ONLINE):
        if name in ("fencepost txn describe", "fencepost txn abort"):
            cli("produce", "purchases", *OPEN, typed="open\n")
        if name == "fencepost groups delete":
            # What follows deletes it, and examples of others need it first.
            continue
        for line in examples(command):
            check(line, run_example(line, servers=servers))
    for line in examples(dict(leaves("groups"))["fencepost groups delete"]):
        check(line, run_example(line, servers=servers))
    assert "ledger" not in cli("topics", "list").out
    assert cli("txn", "describe", "shop-0", "--json").json()["state"] in ("Empty", "CompleteAbort")


def test_the_examples_of_all_commands_that_read_a_data_folder(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with folder.broker() as broker:
        fill(broker)
    for _, command in leaves("log"):
        for line in examples(command):
            check(line, run_example(line, servers="127.0.0.1:1"))
    assert (tmp_path / "exported" / "purchases-0" / f"{0:020d}.log").stat().st_size > 0


def fill(broker: EmbeddedBroker) -> None:
    cli = Cli(broker.bootstrap_servers)
    cli("topics", "create", "purchases", "-p", "1")
    cli("produce", "purchases", "--transaction", typed="kept\n")
    cli("produce", "purchases", "--abort", typed="dropped\n")
    cli("consume", "purchases", "--group", "billing")


def test_the_examples_of_the_broker_start_one_that_clients_can_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    partitions, metrics = examples(dict(leaves("serve"))["fencepost serve"])
    with served(partitions) as (servers, _):
        cli = Cli(servers)
        cli("topics", "create", "purchases")
        assert len(cli("topics", "describe", "purchases", "--json").json()["partitions"]) == 4
    with served(metrics) as (servers, log):
        assert "purchases" in Cli(servers)("topics", "list").out, "both work in the same folder"
        address = next(match[0] for line in log if (match := re.search(r"http://127\.0\.0\.1:\d+/metrics", line)))
        assert b"# HELP" in urllib.request.urlopen(address, timeout=60).read()


@contextmanager
def served(line: str) -> Iterator[tuple[str, Iterator[str]]]:
    """What the example starts, on ports that are free: its address and its log. It ends well with SIGTERM."""
    arguments = shlex.split(re.sub(r"(127\.0\.0\.1):\d+", r"\1:0", line))[1:]
    command = [sys.executable, "-m", "fencepost", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            yield process.stdout.readline().removeprefix("listening on ").strip(), iter(process.stderr.readline, "")
        finally:
            process.terminate()
        process.communicate(timeout=120)
    assert process.returncode == 0, line


def test_no_command_is_left_out() -> None:
    """Those on Spark have files of their own, `test_examples_on_spark.py` and tests/spark."""
    elsewhere = ("serve", "log", "demo", "run", "audit", "warm-up")
    assert leaves(*ONLINE, *elsewhere) == leaves()


@pytest.mark.parametrize("leaf", leaves(), ids=lambda leaf: leaf[0])
def test_help_teaches_with_examples_and_fits_80_columns(leaf: Leaf) -> None:
    name, command = leaf
    assert all("fencepost" in line for line in examples(command))
    assert len(examples(command)) >= 2
    assert max(map(len, help_text(name, command).splitlines())) <= WIDTH


def test_help_of_groups_fits_80_columns() -> None:
    for name, command in walk_commands():
        if isinstance(command, click.Group):
            assert max(map(len, help_text(name, command).splitlines())) <= WIDTH, name


@pytest.mark.parametrize("leaf", leaves(), ids=lambda leaf: leaf[0])
def test_every_command_prints_json_if_asked(leaf: Leaf) -> None:
    """But what writes for a shell, and the broker, whose log has a format of its own."""
    name, command = leaf
    has_json = any("--json" in parameter.opts for parameter in command.params)
    assert has_json or name in ("fencepost completion", "fencepost serve")
