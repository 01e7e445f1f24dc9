"""`--json`, of every command that has it, on both brokers: a document that a program can read, nothing beside it."""

import json
from pathlib import Path

import pytest

from fencepost.cli.main import walk_commands
from tests.cli.conftest import Folder
from tests.cli.running import Cli, run_command

PATIENCE = ("-X", "transaction.timeout.ms=600000")
OF_A_CLUSTER = {
    "topics create": ["{new}"],
    "topics list": [],
    "topics describe": ["{topic}"],
    "topics alter": ["{topic}", "--set", "retention.ms=86400000"],
    "produce": ["{topic}", "--partition", "1"],
    "consume": ["{topic}", "--markers", "--aborted", "--open"],
    "groups list": [],
    "groups describe": ["{group}"],
    "groups reset": ["{group}", "--to", "earliest"],
    "groups delete": ["{group}"],
    "txn list": [],
    "txn describe": ["{transactional_id}"],
    "txn blockers": ["--topic", "{topic}"],
    "txn abort": ["{transactional_id}"],
    "topics delete": ["{topic}"],
}
OF_A_FOLDER = {
    "log dump": ["shop-0", "--records"],
    "log export": ["shop-0", "--to", "{exported}"],
    "log verify": [],
}
ON_SPARK = {"demo", "run", "audit", "warm-up"}
"""`test_examples_on_spark.py` and the tests of the demonstration read theirs."""
A_LINE_EACH = {"consume", "log dump"}


def documents(command: str, out: str) -> list[object]:
    return [json.loads(line) for line in out.splitlines()] if command in A_LINE_EACH else [json.loads(out)]


def test_no_command_with_json_is_forgotten() -> None:
    having = {
        name.removeprefix("fencepost ")
        for name, command in walk_commands()
        if any("--json" in parameter.opts for parameter in command.params)
    }
    assert having == OF_A_CLUSTER.keys() | OF_A_FOLDER.keys() | ON_SPARK


def test_commands_on_a_cluster_print_json(cli: Cli, topic: str, name: str) -> None:
    words = {"topic": topic, "new": f"{name}-new", "group": f"{name}-group", "transactional_id": f"{name}-id"}
    cli("produce", topic, "--partition", "0", typed="first\n")
    cli("consume", topic, "--group", words["group"])
    opened = ("--transactional-id", words["transactional_id"], "--leave-open", *PATIENCE)
    cli("produce", topic, "--partition", "0", *opened, typed="open\n")
    for command, arguments in OF_A_CLUSTER.items():
        given = [argument.format(**words) for argument in arguments]
        printed = cli(*command.split(), *given, "--json", typed="second\n")
        assert all(found for found in documents(command, printed.out)), command
        assert topic in printed.out or command in ("topics create", "groups list", "groups delete", "txn list"), command
    cli("txn", "abort", words["transactional_id"], "--yes")


@pytest.mark.parametrize("command", OF_A_FOLDER)
def test_commands_on_a_folder_print_json(folder: Folder, tmp_path: Path, command: str) -> None:
    with folder.broker() as broker:
        cli = Cli(broker.bootstrap_servers)
        cli("topics", "create", "shop")
        cli("produce", "shop", "--transaction", typed="one\n")
    given = [argument.format(exported=tmp_path / "exported") for argument in OF_A_FOLDER[command]]
    printed = run_command(*command.split(), *given, "--data", str(folder.path), "--json")
    assert printed.exit_code == 0, printed
    assert all(documents(command, printed.out))
