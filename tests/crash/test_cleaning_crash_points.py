"""A broker cut after every disk operation of its cleaning: readers, groups and producers notice nothing.

Everything was acknowledged before the cleaning began, so what a restart finds must be the same at every point: the
value of each key, the committed offset, a producer that goes on, and another round of cleaning on top.
"""

from fencepost.lab.simulated_disk import CrashModel, SimulatedDisk
from fencepost.records.compression import Compression
from fencepost.types import Now
from fencepost.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from tests.crash.explorer import Restarts, crash_seeds
from tests.crash.watched_disk import WatchedDisk
from tests.unit.broker.builders import Broker
from tests.unit.broker.cleaning_driver import (
    ROUND_MS,
    KeyedProducer,
    clean,
    fill,
    read_committed,
    small_broker,
    view,
)

CRASH_POINTS_MIN = 250
MODELS = (CrashModel.POWER_LOST, CrashModel.TORN, CrashModel.KILLED)
DELETE_RETENTION_MS = ROUND_MS
ROUNDS = 4
COMMITTED_OFFSET = 22
DELETED = b"of a deleted topic"
ABORTED = b"aborted"


def test_no_crash_while_the_journal_is_cleaned_changes_what_anybody_sees(crash_points: dict[str, int]) -> None:
    before = written_broker()
    expected, now = view(before, "table"), before.now
    restarts = Restarts()
    is_cleaning = False

    def crash(disk: SimulatedDisk, operation_count: int) -> None:
        model = MODELS[operation_count % len(MODELS)]
        for seed in crash_seeds(operation_count, 1) if is_cleaning else ():
            place = f"after operation {operation_count}, {model}, seed {seed}"
            found = disk.after_crash(model, seed)
            restarts.check(found, lambda disk: check(disk, now, expected), moment="always", place=place)

    def clean_all(disk: SimulatedDisk) -> None:
        nonlocal is_cleaning
        broker = small_broker(disk=disk, now=now)
        is_cleaning = True
        for _ in range(ROUNDS):
            clean(broker, passed_ms=DELETE_RETENTION_MS)

    watched = WatchedDisk.over(before.disk, crash)
    watched.run(clean_all)
    assert len(before.disk.list_names()) > len(watched.list_names()), "there was something to clean"
    crash_points["cleaning"] = restarts.count
    assert restarts.count >= CRASH_POINTS_MIN


def written_broker() -> Broker:
    broker = small_broker()
    broker.create_topic("table", cleanup_policy="compact", delete_retention_ms=str(DELETE_RETENTION_MS))
    broker.create_topic("dead")
    plain = KeyedProducer(broker, "table")
    packing = KeyedProducer(broker, "table", compression=Compression.GZIP)
    transactional = KeyedProducer(broker, "table", "shop-0")
    for number in range(COMMITTED_OFFSET + 1):
        key = b"key %d" % (number % 5)
        plain.send((key, b"plain %d" % number), (b"only %d" % number, b"1"))
        packing.send((key, None if number % 3 else b"packed %d" % number), (b"other", b"%d" % number))
        transactional.transact((key, ABORTED), (b"never", ABORTED), commits=False)
        transactional.transact((b"committed %d" % (number % 4), b"%d" % number))
        broker.produce("dead", DELETED * 5)
        commit_offset(broker, number)
    (result,) = broker.ask(DeleteTopicsRequest(topics=[DeleteTopicState(name="dead")]), 6).responses
    assert result.error_code == 0
    KeyedProducer(broker, "table", "hanging").send((b"key 0", b"undecided"))
    fill(broker)
    return broker


def check(disk: SimulatedDisk, now: Now, expected: dict[bytes, bytes]) -> None:
    later = Now(now.wall_ms + ROUNDS * DELETE_RETENTION_MS, now.monotonic_ms)
    broker = small_broker(disk=disk, now=later)
    check_view(broker, expected)
    clean(broker, passed_ms=DELETE_RETENTION_MS)
    check_view(broker, expected)
    successor = KeyedProducer(broker, "table", "shop-0")
    KeyedProducer(broker, "table", "hanging")
    successor.transact((b"key 0", b"successor"))
    check_view(broker, {**expected, b"key 0": b"successor"})


def check_view(broker: Broker, expected: dict[bytes, bytes]) -> None:
    assert view(broker, "table") == expected
    assert ABORTED not in [record.value for record in read_committed(broker, "table")]
    assert fetch_offset(broker) == COMMITTED_OFFSET
    assert "dead" not in broker.core.state.catalogue.topics


def commit_offset(broker: Broker, offset: int) -> None:
    partition = OffsetCommitRequestPartition(0, committed_offset=offset)
    topic = OffsetCommitRequestTopic(name="table", partitions=[partition])
    answer = broker.ask(OffsetCommitRequest(group_id="group", topics=[topic]), 8)
    assert answer.topics[0].partitions[0].error_code == 0


def fetch_offset(broker: Broker) -> int:
    group = OffsetFetchRequestGroup("group", topics=[OffsetFetchRequestTopics(name="table", partition_indexes=[0])])
    answer = broker.ask(OffsetFetchRequest(groups=[group]), 9)
    return int(answer.groups[0].topics[0].partitions[0].committed_offset)
