"""What every program of the documents shares: its arguments, when to end, and the steps at which it can be struck.

`reach("invoice sent")` marks a step. A program that was started with `--kill-at "invoice sent:3"` ends there, the
third time, by SIGKILL: no handler runs, nothing is flushed. With `--freeze-at` it stops there, all threads of it, until
somebody sends SIGCONT: what the documents call a zombie.
"""

import argparse
import os
import signal
from collections import Counter
from collections.abc import Iterable
from typing import Any

_reached: Counter[str] = Counter()
_strikes: dict[str, signal.Signals] = {}
_has_to_end = False


def parser(description: str | None) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--bootstrap-servers", required=True)
    made.add_argument("--session-timeout-ms", type=int, default=6000, help="a member that is silent for this is out")
    made.add_argument("--kill-at", metavar="STEP:N", help="SIGKILL at the Nth time of this step")
    made.add_argument("--freeze-at", metavar="STEP:N", help="SIGSTOP at the Nth time of this step")
    return made


def start(made: argparse.ArgumentParser) -> argparse.Namespace:
    arguments = made.parse_args()
    for strike, signal_number in ((arguments.kill_at, signal.SIGKILL), (arguments.freeze_at, signal.SIGSTOP)):
        if strike:
            _strikes[strike] = signal_number
    signal.signal(signal.SIGTERM, _end)
    return arguments


def is_running() -> bool:
    """False once SIGTERM has come."""
    return not _has_to_end


def reach(step: str) -> None:
    _reached[step] += 1
    strike = _strikes.get(f"{step}:{_reached[step]}")
    if strike is not None:
        say(f"{strike.name} at: {step}")
        os.kill(os.getpid(), strike)


def say(text: str) -> None:
    print(text, flush=True)


def say_assigned(partitions: Iterable[Any]) -> None:
    for partition in partitions:
        say(f"Assigned {partition}")


def say_revoked(partitions: Iterable[Any]) -> None:
    for partition in partitions:
        say(f"Revoked {partition}")


def membership(arguments: argparse.Namespace) -> dict[str, Any]:
    """Settings of a consumer that is missed soon after it died."""
    session_timeout_ms = arguments.session_timeout_ms
    return {
        "group_protocol": "classic",
        "session_timeout_ms": session_timeout_ms,
        "heartbeat_interval_ms": session_timeout_ms // 10,
    }


def _end(*_: object) -> None:
    global _has_to_end
    _has_to_end = True
