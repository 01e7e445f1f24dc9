"""What a tired person sees when something is wrong: one message, an exit code, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.cli import failures as extras
from fencepost.cli.main import walk_commands
from tests.cli.conftest import Folder
from tests.cli.running import Cli, run_command

CLUSTER_COMMANDS = [
    ["topics", "list"],
    ["topics", "create", "t"],
    ["topics", "describe", "t"],
    ["topics", "alter", "t", "--partitions", "2"],
    ["topics", "delete", "t"],
    ["produce", "t"],
    ["consume", "t"],
    ["consume", "t", "--markers"],
    ["groups", "list"],
    ["groups", "describe", "g"],
    ["groups", "reset", "g", "--to", "earliest"],
    ["groups", "delete", "g"],
    ["txn", "list"],
    ["txn", "describe", "i"],
    ["txn", "blockers"],
    ["txn", "abort", "i"],
]


@pytest.mark.parametrize("arguments", CLUSTER_COMMANDS, ids=" ".join)
def test_a_broker_that_is_not_there_is_told_at_once_with_what_to_do(arguments: list[str]) -> None:
    printed = run_command(*arguments, servers="127.0.0.1:1")
    assert printed.exit_code == 3
    assert "127.0.0.1:1" in printed.err
    assert "fencepost serve" in printed.err
    assert printed.out == ""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["topics", "list", "-X", "nonsense"], "expected NAME=VALUE"),
        (["topics", "list", "-X", "clientid=me"], "client.id"),
        (["topics", "list", "-b", "nowhere"], "host:port"),
        (["topics", "alter", "t"], "nothing to do"),
        (["topics", "create", "t", "--set", "x"], "expected NAME=VALUE"),
        (["consume", "t", "--from", "yesterdayish"], "no place in a partition"),
        (["consume", "t", "--timeout", "soon"], "no duration"),
        (["consume", "t", "--group", "g", "--aborted"], "--group"),
        (["consume", "t", "--format", "{colour}"], "{offset}"),
        (["log", "dump", "shop"], "TOPIC-PARTITION"),
        (["txn", "abort"], "TRANSACTIONAL_ID"),
        (["nonsense"], "nonsense"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_command_line_has_an_exit_code_of_its_own(
    arguments: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fencepost-data").mkdir()
    printed = run_command(*arguments)
    assert printed.exit_code == 2
    assert expected in printed.err


def test_a_partition_that_a_topic_does_not_have_is_named(cli: Cli, topic: str) -> None:
    refused = cli("consume", topic, "-p", "7", exit_code=2)
    assert "partitions 0 to 1" in refused.err


def test_security_settings_come_from_a_file_as_for_kafkas_tools(fencepost_servers: str, tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    config.write_text("# a comment\nclient.id = me\nlinger.ms=5\nsecurity.protocol=PLAINTEXT\n", encoding="utf-8")
    Cli(fencepost_servers)("topics", "list", "--command-config", str(config))
    config.write_text("security.protocl=SSL\n", encoding="utf-8")
    refused = Cli(fencepost_servers)("topics", "list", "--command-config", str(config), exit_code=2)
    assert "security.protocol" in refused.err


def test_help_of_every_command_is_printed_without_a_broker() -> None:
    for name, _ in walk_commands():
        printed = run_command(*name.split()[1:], "--help")
        assert printed.exit_code == 0
        assert printed.out.startswith("Usage: ")


def test_the_list_of_commands_loads_none_of_them() -> None:
    code = (
        "import sys; from fencepost.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = ('rich', 'numpy', 'fencepost.client', 'fencepost.wire')\n"
        "print([name for name in sys.modules if name.startswith(heavy)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("arguments", [("run", "shop.py"), ("audit", "shop.py")], ids=lambda arguments: arguments[0])
def test_commands_that_need_spark_say_how_to_install_it(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    printed = run_command(*arguments)
    assert printed.exit_code == 1
    assert "pip install 'fencepost[spark]'" in printed.err


def test_a_file_that_cannot_be_written_is_named(folder: Folder, tmp_path: Path) -> None:
    with folder.broker() as broker:
        Cli(broker.bootstrap_servers)("topics", "create", "shop")
        Cli(broker.bootstrap_servers)("produce", "shop", typed="one\n")
    (tmp_path / "file").touch()
    target = str(tmp_path / "file" / "below")
    printed = run_command("log", "export", "shop-0", "--data", str(folder.path), "--to", target)
    assert printed.exit_code == 1
    assert "Not a directory" in printed.err
    assert "Traceback" not in printed.err


def test_a_reader_that_goes_away_is_no_error_worth_a_word(fencepost_servers: str) -> None:
    cli = Cli(fencepost_servers)
    cli("topics", "create", "long")
    cli("produce", "long", typed="".join(f"{number}\n" for number in range(50_000)))
    line = f"{sys.executable} -m fencepost consume long | head -1"
    environment = {**os.environ, "KAFKA_BOOTSTRAP_SERVERS": fencepost_servers}
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, timeout=120, env=environment, check=True
    )
    assert (done.stdout, done.stderr) == ("0\n", "")
