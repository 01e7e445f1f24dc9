"""What a person sees in a terminal of 80 columns, and what a pipe gets. Drawing is the same for every cluster: what the
commands say about Apache Kafka is tried by the files of their own."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest
from click.shell_completion import BashComplete

from fencepost.cli.main import main
from tests.cli.running import Cli

COLUMNS = 80
TOPIC = "a-topic-with-quite-a-long-name-as-companies-have-them"
GROUP = "a-group-with-quite-a-long-name-as-well"
TRANSACTIONAL_ID = "a-transactional-id-of-some-length-0"
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def in_terminal(*arguments: str, servers: str, typed: bytes = b"", **environment: str) -> tuple[int, str]:
    """Exit code and everything on the screen of a terminal with 80 columns."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    given = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "fencepost", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**given, "TERM": "xterm-256color", "KAFKA_BOOTSTRAP_SERVERS": servers, **environment},
        start_new_session=True,
    )
    os.close(terminal)
    os.write(screen, typed)
    seen = b""
    while True:
        try:
            piece = os.read(screen, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(screen)
    return process.wait(60), seen.decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def scene(fencepost_servers: str) -> Cli:
    """Long names, an open transaction, a group that waits: wide rows of every table."""
    cli = Cli(fencepost_servers)
    cli("topics", "create", TOPIC, "-p", "2")
    cli("produce", TOPIC, "-p", "0", typed="first\n")
    cli("consume", TOPIC, "-g", GROUP)
    patience = ["-X", "transaction.timeout.ms=600000"]
    cli("produce", TOPIC, "-p", "0", "--transactional-id", TRANSACTIONAL_ID, "--leave-open", *patience, typed="open\n")
    return cli


TABLES = [
    ["topics", "list", "--internal"],
    ["topics", "describe", TOPIC],
    ["groups", "list"],
    ["groups", "describe", GROUP],
    ["txn", "list"],
    ["txn", "describe", TRANSACTIONAL_ID],
]
SENTENCES = [["txn", "blockers"]]
PREVIEWS = [
    ["topics", "delete", TOPIC],
    ["groups", "reset", GROUP, "--to", "earliest"],
    ["groups", "delete", GROUP],
    ["txn", "abort", TRANSACTIONAL_ID],
]


@pytest.mark.parametrize("arguments", [*TABLES, *SENTENCES, *PREVIEWS], ids=" ".join)
def test_what_is_shown_fits_80_columns_in_a_terminal(scene: Cli, arguments: list[str]) -> None:
    typed = b"n\n" if arguments in PREVIEWS else b""
    exit_code, seen = in_terminal(*arguments, servers=scene.servers, typed=typed)
    assert exit_code == 0
    lines = [ESCAPE.sub("", line) for line in seen.splitlines()]
    assert max(map(len, lines)) <= COLUMNS
    assert "…" not in seen, "nothing is cut"


def test_messages_about_trouble_fit_as_well_and_commands_stay_whole(scene: Cli) -> None:
    unreachable, words = in_terminal("topics", "list", servers="127.0.0.1:1")
    refused, more_words = in_terminal("txn", "describe", f"no-{TRANSACTIONAL_ID}-and-more", servers=scene.servers)
    assert (unreachable, refused) == (3, 1)
    lines = [*words.splitlines(), *more_words.splitlines()]
    assert len(lines) > 3, "long sentences are there"
    assert max(map(len, lines)) <= COLUMNS
    _, blockers = in_terminal("txn", "blockers", servers=scene.servers)
    assert f"  end it   fencepost txn abort {TRANSACTIONAL_ID}" in blockers.splitlines()


@pytest.mark.parametrize("arguments", [each for each in TABLES if each[:2] != ["topics", "describe"]], ids=" ".join)
def test_a_pipe_gets_whole_rows_without_colour(scene: Cli, arguments: list[str]) -> None:
    printed = scene(*arguments)
    assert "\x1b" not in printed.out
    assert any(name in line for line in printed.lines for name in (TOPIC, GROUP, TRANSACTIONAL_ID))


def test_no_color_is_respected(scene: Cli) -> None:
    _, coloured = in_terminal("topics", "list", servers=scene.servers)
    _, plain = in_terminal("topics", "list", servers=scene.servers, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", plain)
    assert ESCAPE.sub("", coloured) == ESCAPE.sub("", plain)


def test_a_person_is_asked_before_something_is_deleted(scene: Cli) -> None:
    scene("topics", "create", "asked-about")
    exit_code, seen = in_terminal("topics", "delete", "asked-about", servers=scene.servers, typed=b"n\n")
    assert "Delete all of it? [y/N]" in seen
    assert exit_code == 0
    assert "asked-about" in scene("topics", "list").out
    exit_code, seen = in_terminal("topics", "delete", "asked-about", servers=scene.servers, typed=b"y\n")
    assert "deleted asked-about" in seen
    assert "asked-about" not in scene("topics", "list").out


def test_a_shell_completes_names_by_asking_the_cluster(scene: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", scene.servers)
    bash = BashComplete(main, {}, "fencepost", "_FENCEPOST_COMPLETE")

    def complete(*words: str) -> list[str]:
        return [item.value for item in bash.get_completions(list(words[:-1]), words[-1])]

    assert complete("to") == ["topics"]
    assert "describe" in complete("txn", "")
    assert complete("consume", "a-top") == [TOPIC]
    assert complete("groups", "describe", "a-g") == [GROUP]
    assert complete("txn", "describe", "a-t") == [TRANSACTIONAL_ID]


def test_the_variables_that_bash_sets_are_understood(scene: Cli) -> None:
    given = {"_FENCEPOST_COMPLETE": "bash_complete", "COMP_WORDS": "fencepost consume a-top", "COMP_CWORD": "2"}
    code = "from fencepost.cli.main import main; main(prog_name='fencepost')"
    environment = {**os.environ, **given, "KAFKA_BOOTSTRAP_SERVERS": scene.servers}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=environment, check=False
    )
    assert done.stdout == f"plain,{TOPIC}\n"
