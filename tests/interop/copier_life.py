"""Consume, transform, produce: two copiers share the input, one is killed in the middle of a transaction.

The bodies are the same for every client; what differs is the program of a copier. It moves records from `source` to
`target` through `transform`, a transaction for every few of them, offsets included; it says `assigned`, `copied`
with a count at each commit, and, where told to `hold_after` so many records, `holding` with its transaction open.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.interop.member_process import MemberProcess
from tests.interop.support import wait_for

PARTITIONS = 4
RECORDS = 400
BATCH = 10  # records of one transaction


def transform(value: bytes) -> bytes:
    return b"copy of " + value


def source_values(first: int, count: int) -> list[bytes]:
    return [b"%d" % number for number in range(first, first + count)]


def two_copiers_rebalance_and_one_is_killed(
    *,
    module: str,
    folder: Path,
    arguments: dict[str, Any],
    produce: Callable[[list[bytes]], None],
    read_values: Callable[[str], list[bytes]],
) -> None:
    """`read_values(isolation_level)` reads the whole target."""
    values = source_values(0, RECORDS)
    expected = Counter(map(transform, values))
    with ExitStack() as stack:

        def start(name: str, transactional_id: str, **more: Any) -> MemberProcess:
            given = arguments | {"transactional_id": transactional_id} | more
            return stack.enter_context(MemberProcess(module, folder, name, given))

        produce(values[: RECORDS // 2])
        first = start("first", "copier-1")
        first.wait_for("copied")
        second = start("second", "copier-2", hold_after=BATCH // 2)
        wait_for("both copiers have partitions", lambda: first.last("assigned") and second.last("assigned"))
        produce(values[RECORDS // 2 :])
        second.wait_for("holding")
        assert Counter(read_values("read_uncommitted")) - Counter(read_values("read_committed"))
        second.crash()

        third = start("third", "copier-2")
        wait_for("every record", lambda: len(read_values("read_committed")) >= RECORDS, pause_s=0.2)
        first.leave()
        third.leave()

    assert Counter(read_values("read_committed")) == expected
    uncommitted = Counter(read_values("read_uncommitted"))
    assert uncommitted >= expected
    assert uncommitted != expected, "what the killed copier wrote should still be there for those who ask for it"
