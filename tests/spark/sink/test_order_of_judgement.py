"""In which order the writer looks, judges, takes its identity and reads: with doubles, so that every order shows."""

from collections.abc import Callable

import pytest

from fencepost.client.exceptions import Disconnected
from fencepost.client.values import ProducerIdentity
from fencepost.spark.sink.errors import LedgerDisagrees
from fencepost.spark.sink.pinning import nothing_pinned
from fencepost.spark.sink.token import Verdict
from fencepost.spark.sink.writer import ExactlyOnceWriter, Plan
from fencepost.types import TopicPartition

Tokens = dict[bytes, bytes]


class World:
    """A ledger, a transaction and a publisher that write down what is asked of them."""

    identity = ProducerIdentity(1, 0)
    timeout_ms = 1000
    partition = TopicPartition("ledger", 0)

    def __init__(self, *, seen: Tokens | None, found: Tokens, is_away: bool = False) -> None:
        self.story: list[str] = []
        self.has_identity = False
        self._seen, self._found = seen, found
        self._is_away = is_away

    def open(self, _: object) -> None:
        self.story.append("open")
        if self._is_away:
            raise Disconnected("no broker can be reached")

    def look(self) -> Tokens | None:
        self.story.append("look")
        return self._seen

    def begin(self) -> bool:
        """Waits for brokers."""
        self.story.append("take over")
        self.has_identity, self._is_away = True, False
        return True

    def read(self) -> Tokens:
        self.story.append("read")
        return dict(self._found)

    def token_batch(self, key: bytes, value: bytes) -> tuple[bytes, bytes]:
        return key, value

    def publish(self, *_: object, **__: object) -> dict[TopicPartition, int]:
        """Nothing is pinned: all that is published is the token."""
        return {self.partition: 1}

    def commit(self, _: ProducerIdentity) -> None:
        self.story.append("commit")

    def quiet(self, *_: object, **__: object) -> None:
        pass

    join = abort = close = quiet


class Work:
    key = b"token"
    offsets: dict[TopicPartition, int] = {}  # noqa: RUF012 - a double

    def judge(self, last: bytes | None, *, is_own_retry: bool) -> Verdict:
        if last == b"wrong":
            raise LedgerDisagrees("not this one")
        return Verdict.DONE if last == b"mine" else Verdict.PUBLISH

    def token(self, record_count: int) -> bytes:
        return b"mine"


@pytest.fixture
def write() -> Callable[[World], None]:
    def write_one(world: World) -> None:
        double: object = world
        writer = ExactlyOnceWriter(double, double, double, double, group_id="g", max_retries=0)  # type: ignore[arg-type]
        writer.write(Plan(work=Work(), pin=nothing_pinned))

    return write_one


def test_a_driver_that_the_ledger_refuses_never_takes_over(write) -> None:
    world = World(seen={b"token": b"wrong"}, found={})
    with pytest.raises(LedgerDisagrees):
        write(world)
    assert world.story == ["open", "look"]


def test_the_judgement_after_the_take_over_is_the_one_that_counts(write) -> None:
    world = World(seen={}, found={b"token": b"wrong"})
    with pytest.raises(LedgerDisagrees):
        write(world)
    assert world.story == ["open", "look", "take over", "read"]


def test_what_was_done_is_believed_only_after_the_take_over(write) -> None:
    world = World(seen={b"token": b"mine"}, found={b"token": b"mine"})
    write(world)
    assert world.story == ["open", "look", "take over", "read"]


def test_an_undecided_ledger_refuses_nobody(write) -> None:
    world = World(seen=None, found={})
    write(world)
    assert world.story == ["open", "look", "take over", "read", "commit"]


def test_brokers_that_are_away_are_waited_for_by_taking_over_and_cost_no_try(write) -> None:
    world = World(seen={}, found={}, is_away=True)
    write(world)
    assert world.story == ["open", "take over", "open", "read", "commit"]
