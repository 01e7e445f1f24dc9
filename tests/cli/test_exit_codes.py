"""The exit codes that `fencepost --help` promises: each can be had, on both brokers, and there are no others."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable

from fencepost.cli import failures
from fencepost.cli.main import INTERRUPTED, main
from tests.cli.running import Cli, run_command

PATIENCE = ("-X", "transaction.timeout.ms=600000")
DOCUMENTED = [int(code) for code in re.findall(r"^ +(\d+)  ", main.help or "", re.MULTILINE)]


def ends_well(cli: Cli, name: str) -> int:
    return run_command("topics", "create", name, servers=cli.servers).exit_code


def is_refused(cli: Cli, name: str) -> int:
    return run_command("topics", "describe", f"no-{name}", servers=cli.servers).exit_code


def is_mistyped(cli: Cli, name: str) -> int:
    return run_command("topics", "describe", servers=cli.servers).exit_code


def finds_no_broker(cli: Cli, name: str) -> int:
    return run_command("topics", "list", "--bootstrap-servers", "127.0.0.1:1", servers=cli.servers).exit_code


def finds_a_blocker(cli: Cli, name: str) -> int:
    """A check that finds nothing ends with 0."""
    check = ("txn", "blockers", "--check", "--topic", name)
    cli(*check)
    cli("produce", name, "--transactional-id", name, "--leave-open", *PATIENCE, typed="open\n")
    code = run_command(*check, servers=cli.servers).exit_code
    cli("txn", "abort", name, "--yes")
    return code


def is_interrupted(cli: Cli, name: str) -> int:
    cli("produce", name, typed="one\n")
    command = [sys.executable, "-m", "fencepost", "consume", name, "--follow", "--bootstrap-servers", cli.servers]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout is not None
    assert process.stdout.readline() == "one\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert said == ""
    return process.returncode


WAYS_TO_END: dict[int, Callable[[Cli, str], int]] = {
    failures.DONE: ends_well,
    failures.FAILED: is_refused,
    failures.WRONG_USAGE: is_mistyped,
    failures.UNREACHABLE: finds_no_broker,
    failures.FOUND: finds_a_blocker,
    INTERRUPTED: is_interrupted,
}


def test_every_exit_code_is_documented_and_no_other_is() -> None:
    assert list(WAYS_TO_END) == DOCUMENTED


def test_commands_end_with_the_documented_exit_codes(cli: Cli, name: str) -> None:
    assert [end(cli, name) for end in WAYS_TO_END.values()] == DOCUMENTED
