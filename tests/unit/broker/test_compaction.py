"""Compaction through the broker: what stays of keyed topics, transactions, tombstones and markers, and for how long."""

from copy import copy

import pytest

from fencepost.broker.catalogue import INTERNAL_TOPICS
from fencepost.broker.cleaner import Cleaner
from fencepost.broker.compaction import CompactionMemory, CompactionPlan, CompactionScan, offsets_below
from fencepost.errors import ErrorCode
from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression
from fencepost.records.header import TimestampType, read_header, write_header
from fencepost.records.reader import read_records
from fencepost.records.record import Record
from fencepost.transactions.checkpoint import dump_state
from fencepost.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from fencepost.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopics
from tests.unit.broker.builders import Broker, produce_request
from tests.unit.broker.cleaning_driver import (
    DAY_MS,
    ROUND_MS,
    KeyedProducer,
    batches,
    clean,
    fill,
    read_committed,
    small_broker,
    stored,
    view,
)

HOUR_MS = 3_600_000


@pytest.fixture
def broker() -> Broker:
    broker = small_broker()
    broker.create_topic("table", cleanup_policy="compact")
    return broker


def settle(broker: Broker, rounds: int = 3, *, passed_ms: int = ROUND_MS) -> None:
    """Move the journal on, so that what was written lies in sealed segments, and clean until nothing changes."""
    fill(broker)
    for _ in range(rounds):
        clean(broker, passed_ms=passed_ms)


def records(broker: Broker) -> list[tuple[int, bytes | None, bytes | None]]:
    return [(record.offset, record.key, record.value) for record in read_committed(broker, "table")]


def test_of_each_key_the_newest_record_stays_at_its_offset(broker: Broker) -> None:
    producer = KeyedProducer(broker, "table")
    producer.send((b"a", b"1"), (b"b", b"1"), (b"a", b"2"))
    producer.send((b"c", b"1"), (b"b", b"2"))
    producer.send((b"last", b"1"))
    settle(broker)
    assert records(broker) == [(2, b"a", b"2"), (3, b"c", b"1"), (4, b"b", b"2"), (5, b"last", b"1")]
    assert [(header.base_offset, header.last_offset) for header in batches(broker, "table")] == [(0, 2), (3, 4), (5, 5)]


def test_the_bytes_of_shadowed_records_are_gone_from_the_disk(broker: Broker) -> None:
    producer = KeyedProducer(broker, "table")
    for number in range(30):
        producer.send((b"key", b"needle %d" % number))
    settle(broker)
    assert stored(broker.disk, b"needle") == 1
    assert records(broker) == [(29, b"key", b"needle 29")]


def test_records_without_a_key_stay(broker: Broker) -> None:
    broker.create_topic("log")
    for number in range(4):
        broker.produce("log", b"keyless %d" % number)
    log = broker.core.log("log", 0)
    assert log is not None
    overrides = {"kind": "settings-changed", "name": "log", "overrides": {"cleanup.policy": "compact"}}
    broker.core.append_to_catalogue(overrides, now_ms=broker.now.wall_ms)
    settle(broker)
    assert broker.values("log") == [b"keyless %d" % number for number in range(4)]


def test_the_last_batch_stays_so_that_readers_arrive_at_the_end(broker: Broker) -> None:
    producer = KeyedProducer(broker, "table", "shop-0")
    producer.transact((b"a", b"1"))
    producer.transact((b"a", None), commits=False)
    settle(broker, 8, passed_ms=DAY_MS)
    log = broker.core.log("table", 0)
    assert log is not None
    assert batches(broker, "table")[-1].last_offset == log.state.end_offset - 1
    assert view(broker, "table") == {b"a": b"1"}


def test_aborted_records_shadow_nothing_and_are_dropped(broker: Broker) -> None:
    producer = KeyedProducer(broker, "table", "shop-0")
    producer.transact((b"a", b"committed"))
    producer.transact((b"a", b"needle aborted"), (b"b", b"needle aborted"), commits=False)
    producer.transact((b"c", b"1"))
    settle(broker)
    assert stored(broker.disk, b"needle aborted") == 0
    assert view(broker, "table") == {b"a": b"committed", b"c": b"1"}


def test_nothing_at_or_above_the_last_stable_offset_is_touched(broker: Broker) -> None:
    plain = KeyedProducer(broker, "table")
    plain.send((b"a", b"1"))
    hanging = KeyedProducer(broker, "table", "hanging")
    first_open = hanging.send((b"a", b"undecided"))
    for number in range(5):
        plain.send((b"a", b"behind %d" % number))
    before = [header for header in batches(broker, "table") if header.base_offset >= first_open]
    settle(broker)
    assert [header for header in batches(broker, "table") if header.base_offset >= first_open] == before
    assert view(broker, "table") == {b"a": b"1"}
    hanging.end(commits=False)
    assert view(broker, "table") == {b"a": b"behind 4"}
    plain.send((b"last", b"1"))
    settle(broker)
    assert records(broker)[-2:] == [(6, b"a", b"behind 4"), (8, b"last", b"1")]


def test_young_records_are_left_alone(broker: Broker) -> None:
    broker.create_topic("slow", cleanup_policy="compact", min_compaction_lag_ms=str(HOUR_MS))
    producer = KeyedProducer(broker, "slow")
    for value in (b"1", b"2", b"3"):
        producer.send((b"key", value))
    settle(broker)
    assert [record.value for record in read_committed(broker, "slow")] == [b"1", b"2", b"3"]
    settle(broker, passed_ms=HOUR_MS)
    assert [record.value for record in read_committed(broker, "slow")] == [b"3"]


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("neighbours", [0, 3])
def test_a_tombstone_stays_for_its_time_and_goes_then(broker: Broker, neighbours: int, *, restarts: bool) -> None:
    producer = KeyedProducer(broker, "table")
    producer.send((b"key", b"value"))
    producer.send((b"key", None), *((b"key %d" % number, b"1") for number in range(neighbours)))
    for number in range(neighbours):
        producer.send((b"key %d" % number, b"2"))
    producer.send((b"last", b"1"))
    settle(broker)
    assert (1, b"key", None) in records(broker)
    assert b"value" not in [value for _, _, value in records(broker)]
    clean(broker, passed_ms=DAY_MS // 2)
    assert (1, b"key", None) in records(broker)
    if restarts:
        broker = broker.restarted()
        clean(broker)
    for _ in range(2):
        clean(broker, passed_ms=DAY_MS)
    assert (1, b"key", None) not in records(broker)
    assert b"key" not in view(broker, "table")


def test_a_tombstone_that_shares_a_shrinking_batch_has_its_horizon_in_the_header(broker: Broker) -> None:
    producer = KeyedProducer(broker, "table")
    producer.send((b"key", None), (b"long", b"-" * 100))
    producer.send((b"long", b"1"))
    producer.send((b"last", b"1"))
    settle(broker, rounds=1)
    horizon_ms = batches(broker, "table")[0].delete_horizon_ms
    assert horizon_ms == broker.now.wall_ms + DAY_MS
    assert records(broker)[0] == (0, b"key", None)
    assert read_committed(broker, "table")[0].timestamp_ms == broker.now.wall_ms - ROUND_MS
    clean(broker)
    assert batches(broker, "table")[0].delete_horizon_ms == horizon_ms


def test_a_marker_outlives_the_data_that_it_decides(broker: Broker) -> None:
    committing, aborting = (KeyedProducer(broker, "table", name) for name in ("committing", "aborting"))
    committing.transact((b"a", b"1"))
    aborting.transact((b"a", b"2"), commits=False)
    committing.transact((b"a", b"3"))
    KeyedProducer(broker, "table").send((b"last", b"1"))

    def markers() -> list[int]:
        return [header.base_offset for header in batches(broker, "table") if header.is_control]

    assert markers() == [1, 3, 5]
    settle(broker)
    assert markers() == [1, 3, 5]
    assert [header.base_offset for header in batches(broker, "table") if not header.is_control] == [4, 6]
    clean(broker, passed_ms=DAY_MS // 2)
    assert markers() == [1, 3, 5]
    clean(broker, passed_ms=DAY_MS)
    clean(broker)
    assert markers() == [5]
    assert view(broker, "table") == {b"a": b"3", b"last": b"1"}


def test_readers_do_not_lose_what_a_producer_commits_after_an_abort_whose_marker_is_gone(broker: Broker) -> None:
    producer = KeyedProducer(broker, "table", "shop-0")
    producer.transact((b"a", b"aborted"), commits=False)
    producer.transact((b"b", b"committed"))
    log = broker.core.log("table", 0)
    assert log is not None
    assert len(log.state.aborted) == 1
    settle(broker, 5, passed_ms=DAY_MS)
    assert [header.base_offset for header in batches(broker, "table")] == [2, 3]
    assert len(log.state.aborted) == 0
    for again in (broker, broker.after_kill(), broker.restarted()):
        assert view(again, "table") == {b"b": b"committed"}


def test_an_abort_marker_stays_while_the_forgetting_of_its_transaction_could_be_lost(broker: Broker) -> None:
    producer = KeyedProducer(broker, "table", "shop-0")
    producer.transact((b"a", b"aborted"), commits=False)
    producer.transact((b"b", b"committed"))
    fill(broker)
    clean(broker)
    log = broker.core.log("table", 0)
    assert log is not None
    assert [header.base_offset for header in batches(broker, "table")] == [1, 2, 3]
    assert len(log.state.aborted) == 1
    cleaner = broker.core.housekeeping.cleaner
    cleaner.start_round(broker.now)
    while cleaner.is_scanning:
        cleaner.step()
    assert len(log.state.aborted) == 0
    assert not cleaner.has_work
    again = broker.after_kill()
    assert view(again, "table") == {b"b": b"committed"}


def test_an_abort_marker_that_the_partition_remembers_stays_whatever_its_horizon(broker: Broker) -> None:
    producer = KeyedProducer(broker, "table", "shop-0")
    producer.transact((b"a", b"aborted"), commits=False)
    producer.transact((b"b", b"committed"))
    settle(broker)
    assert batches(broker, "table")[0].delete_horizon_ms is not None
    log = broker.core.log("table", 0)
    assert log is not None
    log.state.aborted.append(producer_id=0, first_offset=0, marker_offset=1, last_stable_offset=2)
    later_ms = broker.now.wall_ms + 2 * DAY_MS
    settings = broker.core.state.catalogue.topics["table"].settings
    scan = CompactionScan(broker.core.journal, log, CompactionMemory(), settings=settings, keys_max=10, now_ms=later_ms)
    assert list(scan.steps())
    assert scan.plan().dropped_batches.tolist() == []
    assert scan.emptied_aborts == [1]


def test_a_tombstone_stays_while_an_older_record_of_its_key_cannot_go(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    packing = KeyedProducer(broker, "table", compression=Compression.ZSTD)
    packing.send((b"key", b"older"), *((b"other %d" % number, b"same" * 50) for number in range(20)))
    producer = KeyedProducer(broker, "table")
    producer.send((b"key", None), (b"long", b"-" * 100))
    producer.send((b"long", b"1"))
    producer.send((b"last", b"1"))
    monkeypatch.setattr("fencepost.records.builder.compress", lambda payload, _codec: bytes(payload))
    settle(broker, rounds=5, passed_ms=DAY_MS)
    assert batches(broker, "table")[1].delete_horizon_ms is not None
    assert b"key" not in view(broker, "table")


def test_compressed_batches_are_thinned_out_in_their_own_codec(broker: Broker) -> None:
    producer = KeyedProducer(broker, "table", compression=Compression.ZSTD)
    producer.send(*((b"key %d" % number, b"1" * 100) for number in range(40)))
    producer.send(*((b"key %d" % number, b"2" * 100) for number in range(0, 40, 2)))
    producer.send((b"last", b"1"))
    settle(broker)
    first = batches(broker, "table")[0]
    assert (first.compression, first.record_count, first.last_offset) == (Compression.ZSTD, 20, 39)
    assert view(broker, "table")[b"key 1"] == b"1" * 100
    assert view(broker, "table")[b"key 2"] == b"2" * 100


def test_more_keys_than_fit_are_compacted_window_by_window(broker: Broker) -> None:
    broker.core.housekeeping.cleaner = Cleaner(broker.core, keys_max=10)
    broker.core.housekeeping.start(broker.now)
    producer = KeyedProducer(broker, "table")
    for version in (b"1", b"2", b"3"):
        for number in range(25):
            producer.send((b"key %d" % number, version))
    producer.send((b"last", b"1"))
    expected = view(broker, "table")
    settle(broker, rounds=20)
    assert view(broker, "table") == expected
    assert len(read_committed(broker, "table")) < 50


def test_a_batch_that_cannot_be_read_is_kept_as_it_is(broker: Broker) -> None:
    broker.create_topic("log")
    good = build_batch([Record(timestamp_ms=broker.now.wall_ms, key=b"key", value=b"value")])
    header, payload = read_header(good), bytearray(good[61:])
    payload[4] = 0x7F  # the key's length passes the end of the record
    bad = write_header(header, payload) + bytes(payload)
    (answer,) = broker.ask(produce_request("log", bad), 12).responses[0].partition_responses
    assert answer.error_code == ErrorCode.NONE
    broker.core.append_to_catalogue(
        {"kind": "settings-changed", "name": "log", "overrides": {"cleanup.policy": "compact"}},
        now_ms=broker.now.wall_ms,
    )
    KeyedProducer(broker, "log").send((b"key", b"1"))
    KeyedProducer(broker, "log").send((b"key", b"2"))
    settle(broker)
    assert [header.base_offset for header in batches(broker, "log")] == [0, 2]


def test_offsets_by_time_are_found_behind_holes(broker: Broker) -> None:
    producer = KeyedProducer(broker, "table")
    producer.send((b"a", b"1"))
    start_ms = broker.now.wall_ms
    broker.sleep(1000)
    producer.send((b"a", b"2"))
    broker.sleep(1000)
    producer.send((b"a", b"3"))
    producer.send((b"last", b"1"))
    settle(broker)
    for timestamp_ms, expected in ((start_ms, 2), (start_ms + 1000, 2), (start_ms + 2001, -1), (-3, 2), (-2, 0)):
        wanted = ListOffsetsTopic("table", [ListOffsetsPartition(0, timestamp=timestamp_ms)])
        answer = broker.ask(ListOffsetsRequest(topics=[wanted])).topics[0].partitions[0]
        assert (answer.error_code, answer.offset) == (0, expected), timestamp_ms


def committed_offset(broker: Broker, group_id: str) -> int:
    topics = [OffsetFetchRequestTopics(name="table", partition_indexes=[0])]
    group = OffsetFetchRequestGroup(group_id, topics=topics)
    answer = broker.ask(OffsetFetchRequest(groups=[group]), 9)
    return int(answer.groups[0].topics[0].partitions[0].committed_offset)


def test_committed_offsets_and_producers_survive_the_cleaning_of_internal_topics(broker: Broker) -> None:
    producer = KeyedProducer(broker, "table", "shop-0")
    for number in range(40):
        partition = OffsetCommitRequestPartition(0, committed_offset=number, committed_metadata="needle")
        request = OffsetCommitRequest(
            group_id="group", topics=[OffsetCommitRequestTopic(name="table", partitions=[partition])]
        )
        assert broker.ask(request, 8).topics[0].partitions[0].error_code == 0
        producer.transact((b"key", b"%d" % number))
    settle(broker)
    assert stored(broker.disk, b"needle") < 20
    for again in (broker.after_kill(), broker.restarted()):
        assert committed_offset(again, "group") == 39
        survivor = copy(producer)
        survivor.broker = again
        survivor.transact((b"key", b"next"))
        assert view(again, "table") == {b"key": b"next"}
        KeyedProducer(again, "table", "shop-0").transact((b"key", b"a new instance"))
        with pytest.raises(AssertionError, match="epoch"):
            survivor.send((b"key", b"a zombie"))


def test_offsets_of_transactions_and_their_states_survive_the_cleaning_of_internal_topics(broker: Broker) -> None:
    producers = [KeyedProducer(broker, "table", f"shop-{number}") for number in range(3)]
    for number in range(45):
        producer = producers[number % 3]
        producer.send((b"key", b"%d" % number))
        producer.send_offset(f"group-{number % 3}", number)
        producer.end(commits=number % 4 > 0)
    hanging = KeyedProducer(broker, "table", "hanging")
    hanging.send_offset("group-0", 1000)
    expected = [42, 43, 41]
    stored_bytes = internal_bytes(broker)
    settle(broker, rounds=6, passed_ms=DAY_MS)
    assert internal_bytes(broker) < stored_bytes / 4
    transactions = dump_state(broker.core.state.transactions)
    for again in (broker.after_kill(), broker.restarted()):
        assert [committed_offset(again, f"group-{number}") for number in range(3)] == expected
        assert dump_state(again.core.state.transactions) == transactions
        survivor = copy(hanging)
        survivor.broker = again
        survivor.end(commits=True)
        assert committed_offset(again, "group-0") == 1000


def internal_bytes(broker: Broker) -> int:
    state = broker.core.state
    refs = [ref for name in INTERNAL_TOPICS for ref in state.catalogue.topics[name].partition_refs]
    return sum(map(broker.core.journal.size_bytes, refs))


def test_an_idle_broker_becomes_quiet_after_compaction(broker: Broker) -> None:
    producer = KeyedProducer(broker, "table", "shop-0")
    for number in range(30):
        producer.transact((b"key %d" % (number % 3), b"%d" % number), commits=number % 4 > 0)
    settle(broker, rounds=6)
    position = broker.core.journal.last_position
    for _ in range(4):
        assert clean(broker) == 0
    assert broker.core.journal.last_position == position


def test_little_garbage_in_a_large_journal_waits_for_more(broker: Broker) -> None:
    broker.create_topic("archive", retention_ms="-1")
    for _ in range(40):
        broker.produce("archive", b"-" * 1000)
    producer = KeyedProducer(broker, "table")
    for number in range(8):
        producer.send((b"key", b"%d" % number))
    settle(broker)
    assert len(read_committed(broker, "table")) == 8
    for number in range(8):
        producer.send((b"key", b"%d" % number * 500))
    settle(broker)
    assert len(read_committed(broker, "table")) == 1


def plan_for(*, dropped: tuple[int, ...] = (), first_seen: tuple[int, ...] = ()) -> CompactionPlan:
    end = 1000
    return CompactionPlan(
        end, offsets_below((), end), offsets_below(dropped, end), offsets_below(first_seen, end), 10**13
    )


def test_a_batch_of_append_time_keeps_its_time_under_a_horizon() -> None:
    keyed = [Record(timestamp_ms=5, key=b"a", value=None), Record(timestamp_ms=6, key=b"b", value=b"1")]
    batch = build_batch(keyed, base_offset=10, append_time_ms=1_700_000_000_000)
    left = plan_for(first_seen=(10,)).compact(memoryview(batch))
    assert left is not None
    header = read_header(left)
    assert (header.delete_horizon_ms, header.timestamp_type) == (10**13, TimestampType.LOG_APPEND_TIME)
    assert [record.timestamp_ms for record in read_records(left)] == [1_700_000_000_000] * 2


def test_a_batch_that_a_horizon_would_make_larger_stays_as_it_is() -> None:
    batch = memoryview(build_batch([Record(timestamp_ms=5, key=b"a", value=None)], base_offset=10))
    assert plan_for(first_seen=(10,)).compact(batch) is batch


def test_a_batch_that_packs_worse_than_before_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    keyed = [Record(timestamp_ms=5, key=b"%d" % number, value=b"same" * 50) for number in range(50)]
    packed = memoryview(build_batch(keyed, base_offset=10, compression=Compression.ZSTD))
    monkeypatch.setattr("fencepost.records.builder.compress", lambda payload, _codec: bytes(payload))
    assert plan_for(dropped=(11,)).compact(packed) is packed


def test_a_batch_at_the_end_of_the_plan_is_not_even_read() -> None:
    batch = memoryview(build_batch([Record(timestamp_ms=5, key=b"a", value=None)], base_offset=10))
    plan = CompactionPlan(10, *[offsets_below((10,), 11)] * 3, 10**13)
    assert plan.compact(batch) is batch
