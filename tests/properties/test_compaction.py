"""Whatever is written, decided, cleaned and restarted, in any order: readers are left with the same value of each key.

The model remembers every record that was acknowledged, and what became of its transaction. What a read_committed
reader of the whole topic is left with follows from that alone; cleaning may not change it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fencepost.partition.visibility import last_stable_offset
from fencepost.records.compression import Compression
from tests.unit.broker.cleaning_driver import ROUND_MS, KeyedProducer, clean, fill, read_committed, small_broker, view

TOPIC = "table"
DELETE_RETENTION_MS = 2 * ROUND_MS
PRODUCERS = 2
ROUNDS_TO_SETTLE = 6


@dataclass
class Written:
    offset: int
    key: bytes
    value: bytes | None
    transaction: "Transaction | None"


@dataclass(eq=False)
class Transaction:
    is_committed: bool | None = None


@dataclass
class World:
    """A broker and everything that its clients know."""

    def __post_init__(self) -> None:
        self.broker = small_broker()
        self.broker.create_topic(TOPIC, cleanup_policy="compact", delete_retention_ms=str(DELETE_RETENTION_MS))
        names = [None, *(f"producer-{number}" for number in range(PRODUCERS))]
        codecs = (Compression.NONE, Compression.GZIP, Compression.NONE)
        self.producers = [
            KeyedProducer(self.broker, TOPIC, name, codec) for name, codec in zip(names, codecs, strict=True)
        ]

    written: list[Written] = field(default_factory=list)
    open_transactions: dict[int, Transaction] = field(default_factory=dict)

    def send(self, producer: int, keys: list[tuple[int, bool]]) -> None:
        transaction = self.open_transactions.setdefault(producer, Transaction()) if producer else None
        keyed = [
            (b"key %d" % key, None if is_tombstone else b"value %d of record %d" % (key, len(self.written) + index))
            for index, (key, is_tombstone) in enumerate(keys)
        ]
        offset = self.producers[producer].send(*keyed)
        self.written += [Written(offset + index, *pair, transaction) for index, pair in enumerate(keyed)]

    def end(self, producer: int, *, commits: bool) -> None:
        if producer in self.open_transactions:
            self.producers[producer].end(commits=commits)
            self.open_transactions.pop(producer).is_committed = commits

    def restart(self, *, kills: bool) -> None:
        self.broker = self.broker.after_kill() if kills else self.broker.restarted()
        for producer in self.producers:
            producer.broker = self.broker

    def check(self) -> None:
        log = self.broker.core.log(TOPIC, 0)
        assert log is not None
        end_offset = last_stable_offset(log.state)
        expected: dict[bytes, bytes] = {}
        allowed = {}
        for each in self.written:
            if each.offset < end_offset and (each.transaction is None or each.transaction.is_committed):
                allowed[each.offset] = (each.key, each.value)
                expected.pop(each.key, None)
                if each.value is not None:
                    expected[each.key] = each.value
        for record in read_committed(self.broker, TOPIC):
            assert (record.key, record.value) == allowed.get(record.offset), f"{record} was not committed"
        assert view(self.broker, TOPIC) == expected


Action = Callable[[World], object]


def _send(producer: int, keys: list[tuple[int, bool]]) -> Action:
    return lambda world: world.send(producer, keys)


def _end(producer: int, commits: bool) -> Action:
    return lambda world: world.end(producer, commits=commits)


def _clean(passed_ms: int) -> Action:
    return lambda world: (clean(world.broker, passed_ms=passed_ms), world.check())


def _restart(kills: bool) -> Action:
    return lambda world: (world.restart(kills=kills), world.check())


KEYS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([False, False, False, True])), min_size=1, max_size=6)
SENDS = st.builds(_send, st.integers(0, PRODUCERS), KEYS)
ENDS = st.builds(_end, st.integers(1, PRODUCERS), st.booleans())
CLEANS = st.builds(_clean, st.sampled_from([ROUND_MS, DELETE_RETENTION_MS]))
RESTARTS = st.builds(_restart, st.booleans())
FILLS = st.builds(lambda: lambda world: fill(world.broker, segments=1))
ACTIONS = st.lists(st.one_of(SENDS, SENDS, SENDS, SENDS, ENDS, ENDS, CLEANS, FILLS, RESTARTS), min_size=5, max_size=60)


@given(actions=ACTIONS)
@example(actions=[*[lambda world: fill(world.broker, segments=1)] * 2, *[_send(0, [(0, False)] * 5)] * 2])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_cleaning_never_changes_what_readers_are_left_with(actions: list[Action]) -> None:
    world = World()
    for action in actions:
        action(world)
    world.check()
    for producer in range(1, PRODUCERS + 1):
        world.end(producer, commits=producer == 1)
    fill(world.broker)
    clean(world.broker, passed_ms=DELETE_RETENTION_MS)
    # What was written elsewhere is gone by now. While it was there, compaction may not have been worth its while, and
    # it is thought of again only when the topic has grown.
    world.send(0, [(0, False)])
    fill(world.broker)
    for _ in range(ROUNDS_TO_SETTLE):
        clean(world.broker, passed_ms=DELETE_RETENTION_MS)
        world.check()
    world.restart(kills=True)
    world.check()
    check_is_compact(world)


def check_is_compact(world: World) -> None:
    """When everything has had its time, little more is left than one record of each key."""
    *records, _ = read_committed(world.broker, TOPIC) or [None]
    keys = [record.key for record in records]
    last_batch_records = 6
    assert len(keys) - len(set(keys)) <= last_batch_records
