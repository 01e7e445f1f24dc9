"""kcat as a command, run to its end with a deadline."""

import shutil
import subprocess
from collections.abc import Callable

import pytest

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.support import DEADLINE_S

Kcat = Callable[..., str]


@pytest.fixture
def kcat(broker: EmbeddedBroker) -> Kcat:
    """Runs kcat against the test's broker; returns what it printed, or fails with what it complained about."""
    program = shutil.which("kcat")
    if program is None:
        pytest.skip("kcat is not installed; Debian and Ubuntu: apt-get install kcat; macOS: brew install kcat")

    def run(*arguments: str, stdin: str = "", refused: bool = False) -> str:
        command = [program, "-b", broker.bootstrap_servers, "-X", "socket.timeout.ms=20000", *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        assert (done.returncode != 0) == refused, f"kcat ended with {done.returncode}: {done.stderr}"
        return done.stderr if refused else done.stdout

    return run
