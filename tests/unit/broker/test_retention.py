"""Retention by time and size, deleted topics, and what cleaning leaves of the journal for them."""

import pytest

from fencepost.broker.catalogue import CATALOGUE_REF
from fencepost.errors import ErrorCode
from fencepost.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from tests.unit.broker.builders import Broker, fetch_request
from tests.unit.broker.cleaning_driver import (
    ROUND_MS,
    KeyedProducer,
    batches,
    clean,
    fill,
    finish_round,
    read_committed,
    small_broker,
    stored,
)

NEEDLE = b"a needle that is not elsewhere"


def log_start(broker: Broker, topic: str) -> int:
    log = broker.core.log(topic, 0)
    assert log is not None
    return log.state.log_start_offset


def earliest(broker: Broker, topic: str) -> int:
    wanted = ListOffsetsTopic(topic, [ListOffsetsPartition(0, timestamp=-2)])
    return int(broker.ask(ListOffsetsRequest(topics=[wanted])).topics[0].partitions[0].offset)


def checkpoints(broker: Broker) -> frozenset[int]:
    return broker.core.journal.kept_checkpoints()


def test_records_older_than_retention_ms_go() -> None:
    broker = small_broker()
    broker.create_topic("events", retention_ms="1000000")
    broker.produce("events", NEEDLE)
    broker.sleep(900_000)
    broker.produce("events", b"young")
    fill(broker)
    finish_round(broker)
    assert broker.values("events") == [NEEDLE, b"young"]
    clean(broker)
    assert log_start(broker, "events") == earliest(broker, "events") == 1
    assert broker.values("events", offset=1) == [b"young"]
    assert broker.fetch("events", offset=0).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert stored(broker.disk, NEEDLE) == 0


def test_a_partition_above_retention_bytes_loses_its_oldest_batches() -> None:
    broker = small_broker()
    broker.create_topic("events", retention_bytes="1500")
    for number in range(20):
        broker.produce("events", b"%02d" % number * 50)
    clean(broker)
    start_offset = log_start(broker, "events")
    sizes = {header.base_offset: header.size_bytes for header in batches(broker, "events")}
    assert sum(size_bytes for offset, size_bytes in sizes.items() if offset >= start_offset) >= 1500
    assert sum(size_bytes for offset, size_bytes in sizes.items() if offset > start_offset) < 1500


def test_without_limits_everything_stays() -> None:
    broker = small_broker()
    broker.create_topic("events", retention_ms="-1")
    for _ in range(3):
        broker.produce("events", NEEDLE)
    fill(broker)
    clean(broker, passed_ms=2**40)
    assert log_start(broker, "events") == 0
    assert broker.values("events") == [NEEDLE] * 3


def test_nothing_goes_from_a_topic_that_is_only_compacted() -> None:
    broker = small_broker()
    broker.create_topic("table", cleanup_policy="compact", retention_ms="1", retention_bytes="0")
    KeyedProducer(broker, "table").send((b"key", b"value"))
    fill(broker)
    clean(broker)
    assert log_start(broker, "table") == 0


def test_retention_stops_at_the_last_stable_offset() -> None:
    broker = small_broker()
    broker.create_topic("events", retention_ms="1000", retention_bytes="0")
    broker.produce("events", b"decided")
    open_one = KeyedProducer(broker, "events", "shop-0")
    first_open = open_one.send((None, NEEDLE))
    broker.produce("events", b"behind it")
    fill(broker)
    clean(broker, passed_ms=10_000)
    clean(broker, passed_ms=10_000)
    assert log_start(broker, "events") <= first_open == 1
    open_one.end(commits=True)
    clean(broker)
    assert log_start(broker, "events") == 4
    fill(broker)
    clean(broker)
    assert stored(broker.disk, NEEDLE) == 0
    assert read_committed(broker, "events") == []


def test_log_starts_and_what_lies_behind_them_survive_a_restart() -> None:
    broker = small_broker()
    broker.create_topic("events", retention_ms="400000")
    broker.produce("events", NEEDLE)
    broker.sleep(200_000)
    broker.produce("events", b"young")
    fill(broker)
    clean(broker)
    for again in (broker.after_kill(), broker.restarted()):
        assert log_start(again, "events") == 1
        assert again.values("events", offset=1) == [b"young"]
        assert again.produce("events", b"next").base_offset == 2


def test_a_reader_that_waits_before_the_new_start_is_told_when_the_move_is_synced() -> None:
    broker = small_broker()
    broker.create_topic("events", retention_ms="1000")
    broker.produce("events", b"only one")
    waiting = broker.send(fetch_request("events", 0, offset=0, max_wait_ms=10_000_000, min_bytes=1_000_000), 12)
    assert waiting.reply is None
    broker.sleep(ROUND_MS)
    (answer,) = waiting.reply.responses
    assert answer.partitions[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_reader_that_waits_at_the_end_goes_on_waiting() -> None:
    broker = small_broker()
    broker.create_topic("events", retention_ms="1000")
    broker.produce("events", b"only one")
    waiting = broker.send(fetch_request("events", 0, offset=1, max_wait_ms=10_000_000), 12)
    broker.sleep(ROUND_MS)
    assert log_start(broker, "events") == 1
    assert waiting.reply is None
    broker.produce("events", b"next")
    assert waiting.reply is not None


def delete_topic(broker: Broker, name: str) -> None:
    (result,) = broker.ask(DeleteTopicsRequest(topics=[DeleteTopicState(name=name)]), 6).responses
    assert result.error_code == 0


def test_the_bytes_of_a_deleted_topic_vanish_from_the_disk_of_an_idle_broker() -> None:
    broker = small_broker()
    broker.create_topic("events")
    for _ in range(30):
        broker.produce("events", NEEDLE * 10)
    fill(broker, segments=1)
    delete_topic(broker, "events")
    assert stored(broker.disk, NEEDLE) == 300
    clean(broker)
    assert stored(broker.disk, NEEDLE) == 0


def test_a_topic_that_comes_after_one_of_the_same_name_keeps_its_records() -> None:
    broker = small_broker()
    broker.create_topic("events")
    broker.produce("events", NEEDLE)
    delete_topic(broker, "events")
    broker.create_topic("events")
    broker.produce("events", b"new")
    fill(broker)
    clean(broker)
    assert stored(broker.disk, NEEDLE) == 0
    assert broker.values("events") == [b"new"]
    assert broker.restarted().values("events") == [b"new"]


def test_records_of_a_topic_that_is_created_while_a_round_runs_are_kept() -> None:
    broker = small_broker()
    fill(broker)
    broker.sleep(ROUND_MS)
    cleaner = broker.core.housekeeping.cleaner
    while cleaner.is_scanning:
        broker.sleep(0)
    broker.create_topic("events")
    broker.produce("events", NEEDLE)
    fill(broker)
    for _ in range(2):
        broker.core.housekeeping.append_checkpoint()
    broker.commit()
    finish_round(broker)
    assert broker.values("events") == [NEEDLE]


def test_nothing_is_dropped_before_the_deletion_of_its_topic_is_synced() -> None:
    broker = small_broker()
    broker.create_topic("events")
    broker.produce("events", NEEDLE)
    fill(broker)
    broker.core.housekeeping.append_checkpoint()
    broker.core.housekeeping.append_checkpoint()
    broker.commit()
    broker.send(DeleteTopicsRequest(topics=[DeleteTopicState(name="events")]), 6)
    cleaner = broker.core.housekeeping.cleaner
    cleaner.start_round(broker.now)
    while cleaner.is_scanning:
        cleaner.step()
    assert not cleaner.has_work
    assert cleaner.begin() is None
    assert broker.after_kill().values("events") == [NEEDLE]
    broker.commit()
    assert cleaner.has_work


def test_the_catalogue_survives_the_loss_of_its_own_stream() -> None:
    broker = small_broker()
    for number in range(30):
        broker.create_topic(f"topic-{number}", partitions=2, retention_ms="77")
    fill(broker)
    clean(broker)
    assert broker.core.journal.first_offset(CATALOGUE_REF) is None
    topics = dict(broker.core.state.catalogue.topics)
    for again in (broker.after_kill(), broker.restarted()):
        assert again.core.state.catalogue.topics == topics
        again.create_topic("another")


def test_an_idle_broker_becomes_quiet() -> None:
    broker = small_broker()
    broker.create_topic("events", retention_ms="1")
    broker.produce("events", NEEDLE * 100)
    fill(broker)
    for _ in range(4):
        clean(broker)
    position = broker.core.journal.last_position
    for _ in range(5):
        assert clean(broker) == 0
    assert broker.core.journal.last_position == position


def test_a_broker_with_nothing_to_clean_writes_no_checkpoint() -> None:
    broker = small_broker()
    broker.create_topic("events")
    broker.produce("events", b"young")
    for _ in range(3):
        clean(broker)
    assert checkpoints(broker) == frozenset()


def test_a_full_disk_puts_cleaning_off_and_loses_nothing(caplog: pytest.LogCaptureFixture) -> None:
    broker = small_broker()
    broker.create_topic("events", retention_ms="400000")
    broker.create_topic("kept")
    for _ in range(8):
        broker.produce("events", NEEDLE * 10)
        broker.produce("kept", b"kept")
    fill(broker)
    broker.disk.capacity_bytes = 0
    broker.sleep(ROUND_MS * 2)
    cleaner = broker.core.housekeeping.cleaner
    while cleaner.is_scanning:
        broker.core.tick(broker.now)
    broker.commit()
    while (cleaning := cleaner.begin()) is not None:
        try:
            cleaning.run()
        except Exception as problem:  # noqa: BLE001 - handed over as the server does
            cleaner.finish(cleaning, problem)  # type: ignore[arg-type]
        else:
            cleaner.finish(cleaning)
    assert "cleaning is postponed" in caplog.text
    assert broker.values("kept") == [b"kept"] * 8
    broker.disk.capacity_bytes = None
    clean(broker)
    assert stored(broker.disk, NEEDLE) == 0
    assert broker.values("kept") == [b"kept"] * 8
