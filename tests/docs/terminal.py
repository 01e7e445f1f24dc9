"""A reader at a terminal: types the blocks of a page, in order, and compares what is printed with what the page says.

A terminal is a bash that lives as long as the reader, so that folders, variables and background jobs stay. A command
that fails fails the page, wherever in a block it stands.
"""

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.docs.page_blocks import Block, begins_to_print, has_printed

WAIT_S = 900.0
"""For one block. Spark takes seconds to start, and on a busy machine minutes."""
END_S = 30.0
DONE = "the-block-is-done"
FAILED = "a-command-of-the-block-failed"
ENDS = (f"{DONE}\n", f"{FAILED}\n")


class Terminal:
    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd=folder,
            env={**os.environ, **variables},
            start_new_session=True,
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._seen = ""

    def _read(self) -> None:
        assert self._process.stdout is not None
        # `close` does not wait for the end: a process outside of the group may still hold the other side.
        with contextlib.suppress(ValueError):
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put(None)

    def type(self, text: str, script: Path) -> None:
        """The text comes from a file, so that no command of it takes the next one for its input."""
        script.write_text(text, encoding="utf-8")
        assert self._process.stdin is not None
        self._process.stdin.write(
            f"set -E -o pipefail; ended={DONE}; trap ended={FAILED} ERR\n"
            f". {script} < /dev/null\n"
            "trap - ERR; echo; echo $ended\n"
        )
        self._process.stdin.flush()
        self._seen = ""

    def read_until(self, is_enough: Callable[[str], bool]) -> str:
        deadline_s = time.monotonic() + WAIT_S
        while not is_enough(self._seen):
            try:
                line = self._lines.get(timeout=max(0.0, deadline_s - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"not within {WAIT_S:.0f} s; printed until then:\n{self._seen}")
            if line is None:
                pytest.fail(f"the terminal has ended; it printed:\n{self._seen}")
            self._seen += line
        return self._seen

    def close(self) -> None:
        """The whole process group, politely first: what the page left running."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, number)
                self._process.wait(END_S)
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()


class Reader:
    """`home` is where the reader stands at first; `desk` keeps what is typed."""

    def __init__(self, home: Path, desk: Path, variables: Mapping[str, str] | None = None) -> None:
        self._home = home
        self._desk = desk
        self._variables = variables or {}
        self._own = self._open()
        self._others: list[Terminal] = []

    def follow(self, blocks: list[Block]) -> None:
        for block in blocks:
            if block.file is not None:
                self._save(block)
            elif block.terminal is not None:
                self._start(block)
            else:
                self._try(block)

    def _save(self, block: Block) -> None:
        """Through the terminal, which knows where the reader stands."""
        saved = self._desk / f"line-{block.line}.saved"
        saved.write_text(block.text, encoding="utf-8")
        self._try(replace(block, text=f"cp '{saved}' '{block.file}'\n"))

    def _start(self, block: Block) -> None:
        """It goes on running, so that there is no end to wait for, only what it prints."""
        terminal = self._open()
        self._others.append(terminal)
        terminal.type(block.text, self._script(block))
        expected = block.printed or ""
        seen = terminal.read_until(lambda seen: seen.endswith(ENDS) or begins_to_print(expected, seen))
        assert begins_to_print(expected, seen), f"line {block.line}: it prints otherwise:\n{seen}"

    def _try(self, block: Block) -> None:
        self._own.type(block.text, self._script(block))
        seen = self._own.read_until(lambda seen: seen.endswith(ENDS))
        printed = seen.removesuffix(f"{DONE}\n")
        assert printed != seen, f"line {block.line}: a command failed:\n{seen}"
        if block.printed is not None:
            assert has_printed(block.printed, printed), f"line {block.line}: it prints otherwise:\n{printed}"

    def _script(self, block: Block) -> Path:
        return self._desk / f"line-{block.line}.sh"

    def _open(self) -> Terminal:
        return Terminal(self._home, self._variables)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for terminal in [self._own, *self._others]:
            terminal.close()
