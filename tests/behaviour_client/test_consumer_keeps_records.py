"""Records that a consumer has taken in hand and the program did not get, or did not finish: they come again."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fencepost.client import Consumer, ConsumerRecord, Producer, TopicPartition
from fencepost.client.admin.admin import Admin
from fencepost.client.consumer import arrow_reading
from fencepost.client.exceptions import AuthenticationFailed, IllegalState, Timeout, TransactionAbortable
from fencepost.client.time_limits import Deadline
from fencepost.client.transaction_control import TransactionControl
from fencepost.server.embedded import EmbeddedBroker
from tests.behaviour_client.conftest import all_brokers, one_broker, two_flows
from tests.behaviour_client.consumer_reading import produce, read, read_all
from tests.interop.support import wait_for

pytestmark = one_broker

COUNT = 10


@pytest.fixture
def source(servers: str, admin: Admin, name: str) -> TopicPartition:
    """A partition of ten records."""
    admin.create_topic(f"{name}-source", 2, 1)
    produce(servers, f"{name}-source", [b"%d" % number for number in range(COUNT)])
    return TopicPartition(f"{name}-source", 0)


@pytest.fixture
def target(admin: Admin, name: str) -> str:
    admin.create_topic(f"{name}-target", 1, 1)
    return f"{name}-target"


@pytest.fixture
def writer(servers: str, name: str) -> Iterator[Producer]:
    with Producer(servers, transactional_id=name) as opened:
        opened.init_transactions()
        yield opened


def group_reader(servers: str, source: TopicPartition, **settings: Any) -> Consumer:
    group_id = f"{source.topic}-group"
    return Consumer(servers, [source.topic], group_id=group_id, **{"auto_offset_reset": "earliest", **settings})


def committed(servers: str, source: TopicPartition) -> int | None:
    with Consumer(servers, group_id=f"{source.topic}-group") as anybody:
        found = anybody.committed([source])[source]
        return None if found is None else found.offset


def wait_for_fetched(consumer: Consumer, source: TopicPartition) -> None:
    def probe() -> bool:
        consumer._core.keep_house()
        consumer._core.advance(Deadline(0.1))
        state = consumer._core.assignment.get(source)
        return state is not None and bool(state.chunks)

    wait_for("a fetched answer", probe)


@pytest.mark.parametrize("is_arrow", [False, True], ids=["poll", "poll_arrow"])
def test_a_connection_that_cannot_be_made_again_costs_no_record_that_has_arrived(
    servers: str, source: TopicPartition, is_arrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AuthenticationFailed("the password was changed")

    with Consumer(servers, auto_offset_reset="earliest") as consumer:
        consumer.assign([source])
        consumer.seek(source, 0)
        wait_for_fetched(consumer, source)
        consumer._core._fetcher.close()
        monkeypatch.setattr(consumer._core.cluster, "connect", refuse)
        if is_arrow:
            assert consumer.poll_arrow(0.1)["offset"].to_pylist() == list(range(COUNT))
        else:
            assert [record.offset for record in consumer.poll(0.1)] == list(range(COUNT))
        with pytest.raises(AuthenticationFailed):
            wait_for("the refusal", lambda: consumer.poll(0.1))


def test_records_of_a_poll_that_was_interrupted_are_not_committed_and_come_again(
    servers: str, source: TopicPartition
) -> None:
    count = 0

    def interrupted_once(value: bytes | None) -> bytes | None:
        nonlocal count
        count += 1
        if count == 6:
            raise KeyboardInterrupt
        return value

    consumer = group_reader(servers, source, enable_auto_commit=True, value_deserializer=interrupted_once)
    try:
        with pytest.raises(KeyboardInterrupt):
            read(consumer, COUNT)
        assert consumer.position(source) == 0
        assert [record.offset for record in read(consumer, COUNT)] == list(range(COUNT))
    finally:
        consumer.close(commits=False)
    assert committed(servers, source) is None


def test_rows_of_a_table_that_could_not_be_made_come_again(
    servers: str, source: TopicPartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise MemoryError

    with Consumer(servers, auto_offset_reset="earliest") as consumer:
        consumer.assign([source])
        with monkeypatch.context() as patched:
            patched.setattr(arrow_reading, "take_pieces", take_and(interrupted))
            with pytest.raises(MemoryError):
                wait_for("an answer", lambda: consumer.poll_arrow(0.1).num_rows)
        assert consumer.position(source) == 0
        found = wait_for("an answer", lambda: consumer.poll_arrow(0.1) or None)
        assert found["offset"].to_pylist() == list(range(COUNT))


def take_and(and_then: Callable[[], None]) -> Callable[..., list[Any]]:
    take_pieces = arrow_reading.take_pieces

    def take(*arguments: Any, **named: Any) -> list[Any]:
        pieces = take_pieces(*arguments, **named)
        if pieces:
            and_then()
        return pieces

    return take


def test_to_ask_for_a_position_or_a_lag_commits_nothing_that_is_still_handled(
    servers: str, source: TopicPartition
) -> None:
    with group_reader(servers, source, enable_auto_commit=True, auto_commit_interval_ms=50) as consumer:
        assert len(read(consumer, COUNT)) == COUNT
        time.sleep(0.1)
        consumer.seek_to_end([(source.topic, 1)])
        consumer.lag([(source.topic, 1)])
        time.sleep(0.1)
        assert committed(servers, source) in (None, 0), "the first records are still in the program's hands"


@two_flows
def test_records_taken_one_by_one_are_committed_though_a_table_was_asked_for_meanwhile(
    servers: str, source: TopicPartition, target: str, writer: Producer
) -> None:
    with group_reader(servers, source) as consumer:
        with writer.transaction(consumer) as txn:
            for _ in range(3):
                txn.send(target, next(consumer).value)
            rows = consumer.poll_arrow(0)  # asks for the rest anew, which may have arrived
        assert committed(servers, source) == 3 + rows.num_rows


@all_brokers
@pytest.mark.parametrize("how", ["seek", "seek_to_end"])
def test_records_that_are_passed_over_are_committed_with_those_before_them(
    servers: str, source: TopicPartition, target: str, writer: Producer, how: str
) -> None:
    with group_reader(servers, source, max_poll_records=3) as consumer:
        with writer.transaction(consumer) as txn:
            for record in read(consumer, 3):
                txn.send(target, record.value)
            consumer.seek(source, 5) if how == "seek" else consumer.seek_to_end([source])
        assert committed(servers, source) == (5 if how == "seek" else COUNT)


def copy(
    writer: Producer,
    consumer: Consumer,
    target: str,
    records: list[ConsumerRecord],
    and_then: Callable[[], object] = lambda: None,
) -> None:
    with writer.transaction(consumer) as txn:
        for record in records:
            txn.send(target, record.value)
        and_then()


def fail_to_copy(writer: Producer, consumer: Consumer, target: str, records: list[ConsumerRecord]) -> None:
    with pytest.raises(ZeroDivisionError):
        copy(writer, consumer, target, records, lambda: 1 // 0)


@two_flows
def test_an_aborted_block_goes_back_to_where_the_program_had_sought_to(
    servers: str, source: TopicPartition, target: str, writer: Producer
) -> None:
    with group_reader(servers, source, auto_offset_reset="latest") as consumer:
        wait_for("the partition", lambda: consumer.poll(0.1) or source in consumer.assignment())
        assert consumer.position(source) == COUNT
        consumer.seek_to_beginning()
        fail_to_copy(writer, consumer, target, read(consumer, COUNT))
        assert consumer.position(source) == 0
        consumer.seek(source, 4)
        fail_to_copy(writer, consumer, target, read(consumer, COUNT - 4))
        assert consumer.position(source) == 4


@two_flows
def test_an_aborted_block_that_has_passed_over_records_goes_back_before_the_first_that_it_read(
    servers: str, source: TopicPartition, target: str, writer: Producer
) -> None:
    with group_reader(servers, source, max_poll_records=3) as consumer:
        records = read(consumer, 3)
        consumer.seek(source, 7)
        fail_to_copy(writer, consumer, target, records)
        assert consumer.position(source) == 0


@two_flows
def test_records_that_were_polled_for_a_block_that_could_not_begin_come_again(
    servers: str, source: TopicPartition, target: str, writer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_txn = TransactionControl.end_txn

    def unanswered(*_: Any, **__: Any) -> None:
        raise Timeout("EndTxn was not answered in time")

    with group_reader(servers, source, max_poll_records=4) as consumer:
        monkeypatch.setattr(TransactionControl, "end_txn", unanswered)
        records = read(consumer, 4)
        with pytest.raises(Timeout):
            copy(writer, consumer, target, records)
        assert [record.offset for record in read(consumer, 4)] == [4, 5, 6, 7]
        with pytest.raises(IllegalState, match="COMMITTING"):
            writer.transaction(consumer).__enter__()
        monkeypatch.setattr(TransactionControl, "end_txn", end_txn)
        writer.commit_transaction()
        copied = 0
        while copied < COUNT - 4:
            records = consumer.poll(0.2)
            copy(writer, consumer, target, records)
            copied += len(records)
    values = [record.value for record in read_all(servers, target)]
    assert sorted(values) == [b"%d" % number for number in range(COUNT)]


@pytest.mark.parametrize("settings", [{"group_protocol": "classic"}, {}], ids=["classic", "kip-848"])
def test_a_block_that_polls_and_loses_a_partition_is_aborted(
    servers: str, source: TopicPartition, target: str, writer: Producer, settings: dict[str, Any]
) -> None:
    produce(servers, source.topic, [b"other %d" % number for number in range(COUNT)], partition=1)
    with group_reader(servers, source, **settings) as first:
        records = read(first, 2 * COUNT)
        before = first.taken_away_count

        def poll_until_rebalanced() -> None:
            with group_reader(servers, source, **settings) as second:
                wait_for(
                    "a rebalance", lambda: [second.poll(0.05), first.poll(0.05)] and first.taken_away_count != before
                )

        with pytest.raises(TransactionAbortable, match="taken away"):
            copy(writer, first, target, records, poll_until_rebalanced)
        assert read_all(servers, target) == []


def test_who_takes_records_slowly_from_an_iteration_stays_a_member(servers: str, source: TopicPartition) -> None:
    told: list[str] = []
    with group_reader(servers, source, max_poll_interval_ms=1000, heartbeat_interval_ms=100) as consumer:
        consumer.subscribe([source.topic], on_lost=lambda _: told.append("lost"))
        for record in consumer:
            time.sleep(0.25)
            if record.offset == COUNT - 1:
                break
        consumer.commit_sync()
    assert told == []
    assert committed(servers, source) == COUNT


def test_an_iteration_ends_with_the_consumer(servers: str, source: TopicPartition) -> None:
    consumer = Consumer(servers, [source.topic], auto_offset_reset="earliest")
    next(consumer)
    consumer.close()
    assert list(consumer) == []


def test_to_wake_a_closed_consumer_writes_into_nobodys_file(servers: str, tmp_path: Any) -> None:
    consumer = Consumer(servers)
    consumer.close()
    paths = [tmp_path / str(number) for number in range(20)]
    files = [path.open("wb", buffering=0) for path in paths]
    consumer.wakeup()
    for file in files:
        file.close()
    assert [path.stat().st_size for path in paths] == [0] * len(paths)


def test_a_callback_that_raises_keeps_no_other_commit_from_being_told(servers: str, source: TopicPartition) -> None:
    told: list[int] = []

    def fail(*_: object) -> None:
        raise Timeout("the program's own")

    with Consumer(servers, group_id=f"{source.topic}-group") as consumer:
        consumer.assign([source])
        consumer.commit_async({source: 1}, fail)
        for offset in (2, 3):
            consumer.commit_async({source: offset}, lambda offsets, problem: told.append(offsets[source].offset))
        with pytest.raises(Timeout, match="the program's own"):
            wait_for("the first answer", lambda: consumer.poll(0.05))
        wait_for("the others", lambda: consumer.poll(0.05) or told == [2, 3])


def test_a_refused_commit_is_told_by_the_next_poll_and_may_be_tried_again_there() -> None:
    tries = 0
    with EmbeddedBroker() as broker:
        consumer = Consumer(broker.bootstrap_servers, group_id="g", request_timeout_ms=300, default_api_timeout_ms=300)
        consumer.assign([("t", 0)])

    def again(*_: object) -> None:
        nonlocal tries
        tries += 1
        consumer.commit_async({("t", 0): 1}, again)

    consumer.commit_async({("t", 0): 1}, again)
    assert tries == 0
    consumer.poll(0)
    assert tries == 1
    consumer.close(timeout=0.1)


def test_a_close_ends_in_its_time_though_there_is_something_to_commit_and_nobody_to_commit_it() -> None:
    with EmbeddedBroker() as broker:
        produce(broker.bootstrap_servers, "t", [b"v"])
        consumer = Consumer(
            broker.bootstrap_servers, ["t"], group_id="g", auto_offset_reset="earliest", enable_auto_commit=True
        )
        read(consumer, 1)
    started = time.monotonic()
    consumer.close(timeout=1)
    assert time.monotonic() - started < 10, "the default for calls is 60 s"


def test_a_topic_that_was_unsubscribed_from_and_deleted_is_not_created_again(
    servers: str, admin: Admin, name: str
) -> None:
    left, kept = f"{name}-left", f"{name}-kept"
    for topic in (left, kept):
        admin.create_topic(topic, 1, 1)
    with Consumer(servers, [left], group_id=name, metadata_max_age_ms=100) as consumer:
        wait_for("the first", lambda: consumer.poll(0.05) or consumer.assignment() == [(left, 0)])
        consumer.subscribe([kept])
        wait_for("the second", lambda: consumer.poll(0.05) or consumer.assignment() == [(kept, 0)])
        admin.delete_topics([left])
        end = time.monotonic() + 1
        while time.monotonic() < end:
            consumer.poll(0.05)
        assert left not in admin.describe_topics()
