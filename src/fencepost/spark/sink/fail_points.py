"""Places where a test can make the sink fail: named, so that a fault hits its step and not a moment.

`EXACTLY_ONCE_FAIL_AT=<name>=kill|stop:<seconds>|raise[#<n>]` arms one point, or several with commas between them: at
the n-th time (the first unless said) that the process comes by, it kills itself with SIGKILL, sleeps, or raises. Before
that it adds a line to the file that `EXACTLY_ONCE_FAIL_LOG` names, so that a test can tell that its point was reached;
with such a file, each point fails in one process only. Off, a point costs one look into an empty table.
"""

import os
import signal
import time
from pathlib import Path
from typing import NamedTuple

from fencepost.errors import FencepostError

FAIL_AT = "EXACTLY_ONCE_FAIL_AT"
FAIL_LOG = "EXACTLY_ONCE_FAIL_LOG"

FAIL_POINTS = {
    "encode-task": "1: a task has encoded some of its rows",
    "pinned": "1: all record batches are pinned, no transaction is open",
    "before-init": "2: the driver is about to ask for its producer id and epoch",
    "after-init": "2: the driver has its producer id and epoch, the earlier transaction is finished",
    "ledger-read": "3: the ledger is read to its end, nothing is decided",
    "before-publish": "4: nothing of this micro-batch is on its way",
    "publish-task": "4: the publisher has sent some of its record batches, not all",
    "published": "4: every record batch is acknowledged",
    "before-offsets": "5: counts and producer states are compared, source offsets are not sent",
    "offsets-sent": "5: source offsets are part of the transaction, the token is not",
    "token-sent": "5: everything is part of the transaction, nothing is decided",
    "after-commit": "5: committed; Spark does not know it yet",
    "before-abort": "6: something has failed, the transaction is open",
    "after-abort": "6: the transaction is aborted, nothing is tried again yet",
}


class FailPointReached(FencepostError):  # noqa: N818 - it names an event
    """What an armed fail-point raises."""


class _Armed(NamedTuple):
    action: str
    time_count: int


def _parse(text: str) -> dict[str, _Armed]:
    armed = {}
    for part in filter(None, text.split(",")):
        name, _, action = part.partition("=")
        action, _, times = action.partition("#")
        if name not in FAIL_POINTS or not (action in ("kill", "raise") or action.startswith("stop:")):
            raise FencepostError(f"{FAIL_AT}={part}: expected <name>=kill|stop:<seconds>|raise[#<n>]")
        armed[name] = _Armed(action, int(times or 1))
    return armed


_armed = _parse(os.environ.get(FAIL_AT, ""))
_passed: dict[str, int] = {}


def fail_point(name: str) -> None:
    armed = _armed.get(name)
    if armed is None:
        return
    _passed[name] = _passed.get(name, 0) + 1
    if _passed[name] == armed.time_count:
        _fail(name, armed.action)


def _fail(name: str, action: str) -> None:
    if not _is_first(name, action):
        return
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "raise":
        raise FailPointReached(f"fail-point '{name}' was armed with {FAIL_AT}")
    else:
        time.sleep(float(action.removeprefix("stop:")))


def _is_first(name: str, action: str) -> bool:
    """Whether no other process has failed here: one that takes over from a killed one has the same points armed."""
    log = os.environ.get(FAIL_LOG)
    if not log:
        return True
    try:
        os.close(os.open(f"{log}.{name}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    with Path(log).open("a", encoding="utf-8") as file:
        file.write(f"{name} {action} {os.getpid()}\n")
    return True
