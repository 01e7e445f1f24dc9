"""The life of a consumer group: members join, leave, crash and come back, and every record is counted.

The bodies are the same for every client; what differs is the program of a member. It says `assigned` with its
partitions whenever they change, `got` for each record, and `committed` when a commit has been answered.
"""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.interop.member_process import Event, MemberProcess
from tests.interop.support import wait_for

PARTITIONS = 6
ROUND = 60  # records in one go, ten for each partition


class Group:
    """The members that were ever there, those that are, and the records that they should have seen."""

    def __init__(
        self, *, module: str, folder: Path, arguments: dict[str, Any], produce: Callable[[int, int], None]
    ) -> None:
        self._module, self._folder, self._arguments, self._produce = module, folder, arguments, produce
        self._stack = ExitStack()
        self._everybody: list[MemberProcess] = []
        self._present: list[MemberProcess] = []
        self._produced = 0

    def __enter__(self) -> "Group":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def join(self, name: str, **arguments: Any) -> MemberProcess:
        process = MemberProcess(self._module, self._folder, name, self._arguments | arguments)
        member = self._stack.enter_context(process)
        self._everybody.append(member)
        self._present.append(member)
        return member

    def leave(self, member: MemberProcess) -> None:
        self._present.remove(member)
        member.leave()

    def crash(self, member: MemberProcess) -> None:
        self._present.remove(member)
        member.crash()

    def wait_until_shared_out(self) -> None:
        """Every partition has one owner, and nobody has more than their share."""
        share = -(-PARTITIONS // len(self._present))

        def probe() -> bool:
            owned = [member.last("assigned") or [] for member in self._present]
            everything = sorted(partition for partitions in owned for partition in partitions)
            return everything == list(range(PARTITIONS)) and max(map(len, owned)) == share

        wait_for(f"{PARTITIONS} partitions shared by {len(self._present)} members", probe)

    def produce_round(self) -> None:
        self._produce(self._produced, ROUND)
        self._produced += ROUND

    def wait_until_all_committed(self) -> None:
        end = self._produced // PARTITIONS

        def reached() -> dict[int, int]:
            return {partition: offset for _, _, (partition, offset) in self._events("committed")}

        def probe() -> bool:
            return all(reached().get(partition) == end for partition in range(PARTITIONS))

        def found() -> str:
            return f"committed {reached()}, refused {self._events('not committed')}"

        wait_for(f"offset {end} committed on {PARTITIONS} partitions", probe, found=found)

    def check_every_record(self) -> None:
        """None is lost, and none that somebody committed is handed out again."""
        got = self._events("got")
        expected = {(p, o) for p in range(PARTITIONS) for o in range(self._produced // PARTITIONS)}
        assert {tuple(event.data) for event in got} == expected
        for committed_ns, _, (partition, end) in self._events("committed"):
            again = [e for e in got if e.time_ns > committed_ns and e.data[0] == partition and e.data[1] < end]
            assert not again, f"partition {partition} was committed up to {end}, then came {again}"

    def _events(self, kind: str) -> list[Event]:
        return sorted(event for member in self._everybody for event in member.events(kind))


def members_join_leave_and_crash(group: Group) -> None:
    """Three members; one leaves, one is killed, a fourth comes: nothing lost, nothing committed comes again."""
    group.produce_round()
    first, second, third = (group.join(name) for name in ("first", "second", "third"))
    group.wait_until_shared_out()
    group.produce_round()
    group.wait_until_all_committed()

    group.leave(second)
    group.produce_round()
    group.wait_until_shared_out()
    group.wait_until_all_committed()

    group.produce_round()
    group.crash(third)
    group.produce_round()
    group.wait_until_shared_out()
    group.wait_until_all_committed()

    group.join("fourth")
    group.produce_round()
    group.wait_until_shared_out()
    group.wait_until_all_committed()
    group.leave(first)
    group.check_every_record()


def a_static_member_comes_back(group: Group, *, killed: bool) -> None:
    """A static member that is stopped and started again has its partitions back, and nobody else notices."""
    names = ("first", "second", "third")
    first, second, third = (group.join(name, instance_id=name) for name in names)
    group.produce_round()
    group.wait_until_shared_out()
    group.wait_until_all_committed()
    owned = second.last("assigned")
    before = changes(first, third)

    group.crash(second) if killed else group.leave(second)
    group.produce_round()
    back = group.join("second again", instance_id="second")
    group.wait_until_shared_out()
    group.produce_round()
    group.wait_until_all_committed()

    assert back.last("assigned") == owned
    assert changes(first, third) == before
    group.check_every_record()


def changes(*members: MemberProcess) -> list[list[Event]]:
    return [member.events("assigned") for member in members]


def partition_of(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Record numbers with their partitions: in turn, so that each partition has as many as the next."""
    return [(number, number % PARTITIONS) for number in numbers]
