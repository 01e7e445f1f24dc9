"""Arrow shows the same records as the record path, whatever wrote them and however they are cut into answers."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import confluent_kafka
import pyarrow as pa
import pytest

from fencepost.client import Consumer, read_arrow
from fencepost.client.admin.admin import Admin
from fencepost.client.consumer import arrow_reading
from fencepost.client.consumer.arrow_range import TopicReplaced
from fencepost.client.exceptions import OffsetOutOfRange
from tests.behaviour_client.conftest import one_broker, two_brokers
from tests.behaviour_client.consumer_reading import produce, read_all, run_transaction, transactional
from tests.behaviour_client.reading import wait_for_markers
from tests.interop.confluent.clients import admin as confluent_admin
from tests.interop.confluent.clients import producer
from tests.interop.support import COMPRESSIONS, DEADLINE_S, SAMPLES, wait_for

COLUMNS = ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]


pytestmark = two_brokers


@pytest.fixture
def mixed(servers: str, topic: str) -> str:
    """A topic with every codec, nulls, headers, committed and aborted transactions, on three partitions."""
    for number, compression in enumerate(COMPRESSIONS):
        client = producer(servers, compression_type=compression)
        for sample in SAMPLES:
            client.produce(
                topic,
                sample.value,
                sample.key,
                headers=list(sample.headers),
                timestamp=sample.timestamp_ms,
                partition=number % 3,
            )
        assert client.flush(DEADLINE_S) == 0
    writer = transactional(servers, topic)
    for is_commit in (True, False, True, False):
        run_transaction(
            writer,
            lambda it: [it.produce(topic, b"%d" % n, partition=n % 3) for n in range(30)],
            is_commit=is_commit,
        )
    produce(servers, topic, [b"last"], partition=2)
    wait_for_markers(servers, topic)
    return topic


def rows(records: list[Any]) -> list[tuple[Any, ...]]:
    return sorted((r.partition, r.offset, r.key, r.value, r.timestamp_ms, r.headers or None) for r in records)


def arrow_rows(table: pa.Table | pa.RecordBatch) -> list[tuple[Any, ...]]:
    return sorted(
        (
            row["partition"],
            row["offset"],
            row["key"],
            row["value"],
            round(row["timestamp"].timestamp() * 1000),
            tuple((header["key"], header["value"]) for header in row["headers"]) if row["headers"] else None,
        )
        for row in table.to_pylist()
    )


@pytest.mark.parametrize("isolation_level", ["read_committed", "read_uncommitted"])
@pytest.mark.parametrize("fetch_bytes", [2000, 8 * 1024 * 1024], ids=["small answers", "large answers"])
def test_a_table_has_the_rows_of_the_record_path(
    servers: str, mixed: str, isolation_level: str, fetch_bytes: int
) -> None:
    expected = rows(read_all(servers, mixed, isolation_level=isolation_level))
    table = read_arrow(
        servers,
        mixed,
        include_headers=True,
        isolation_level=isolation_level,
        max_partition_fetch_bytes=fetch_bytes,
    )
    assert arrow_rows(table) == expected
    assert len(expected) == 5 * len(SAMPLES) + (60 if isolation_level == "read_committed" else 120) + 1


@one_broker
def test_columns_are_those_of_sparks_kafka_source(servers: str, mixed: str) -> None:
    table = read_arrow(servers, mixed)
    assert table.column_names == COLUMNS
    assert set(table.column("topic").to_pylist()) == {mixed}
    assert set(table.column("timestampType").to_pylist()) == {0}
    assert read_arrow(servers, mixed, include_headers=True).column_names == [*COLUMNS, "headers"]


@one_broker
def test_a_table_can_be_cut_out_by_offsets(servers: str, topic: str) -> None:
    for partition in range(3):
        produce(servers, topic, [b"%d" % number for number in range(100)], partition=partition)
    table = read_arrow(servers, topic, partitions=[0, 2], start_offsets={0: 90}, end_offsets={0: 95, 2: 3})
    assert sorted(zip(table["partition"].to_pylist(), table["offset"].to_pylist(), strict=True)) == [
        *((0, offset) for offset in range(90, 95)),
        *((2, offset) for offset in range(3)),
    ]


def fill(servers: str, topic: str) -> None:
    """Offsets 0 to 199 of partition 0, in ten batches."""
    for first in range(0, 200, 20):
        produce(servers, topic, [b"%d" % number for number in range(first, first + 20)])


def trim(servers: str, topic: str, offset: int) -> None:
    client = confluent_admin(servers)
    (future,) = client.delete_records([confluent_kafka.TopicPartition(topic, 0, offset)]).values()
    assert future.result(DEADLINE_S).low_watermark == offset


def after_the_first_rows(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """Something happens to the topic while `read_arrow` is in the middle of it."""
    take_pieces = arrow_reading.take_pieces
    done: list[bool] = []

    def take(*arguments: Any, **options: Any) -> list[pa.RecordBatch]:
        pieces = take_pieces(*arguments, **options)
        if pieces and not done:
            done.append(True)
            happens()
        return pieces

    monkeypatch.setattr(arrow_reading, "take_pieces", take)


@pytest.mark.parametrize("start", [0, 99])
def test_a_start_that_is_gone_is_an_error_that_says_from_where_on_there_is_something(
    servers: str, topic: str, start: int
) -> None:
    fill(servers, topic)
    trim(servers, topic, 100)
    with pytest.raises(OffsetOutOfRange) as found:
        read_arrow(servers, topic, start_offsets={0: start})
    assert (found.value.topic_partition, found.value.offset) == ((topic, 0), start)
    assert f"{topic}-0 at offset {start}: " in str(found.value)
    assert "the first one there is has offset 100: ask from 100 on, or leave start_offsets out" in str(found.value)


def test_a_start_that_is_there_or_was_not_given_or_of_an_empty_range_is_none(servers: str, topic: str) -> None:
    fill(servers, topic)
    trim(servers, topic, 100)
    assert read_arrow(servers, topic)["offset"].to_pylist() == list(range(100, 200))
    assert read_arrow(servers, topic, start_offsets={0: 100}).num_rows == 100
    assert read_arrow(servers, topic, start_offsets={1: 0}).num_rows == 100
    assert read_arrow(servers, topic, start_offsets={0: 50}, end_offsets={0: 50}).num_rows == 0
    assert read_arrow(servers, topic, start_offsets={0: 200}).num_rows == 0
    with pytest.raises(ValueError, match="-1 must not be negative"):
        read_arrow(servers, topic, start_offsets={0: -1})


def test_a_program_that_says_where_to_go_instead_gets_that(servers: str, topic: str) -> None:
    fill(servers, topic)
    trim(servers, topic, 100)
    table = read_arrow(servers, topic, start_offsets={0: 0}, auto_offset_reset="earliest")
    assert table["offset"].to_pylist() == list(range(100, 200))
    with pytest.raises(OffsetOutOfRange):
        read_arrow(servers, topic, start_offsets={0: 0}, auto_offset_reset=None)


def test_rows_that_retention_takes_away_while_they_are_read_are_not_left_out_in_silence(
    servers: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(servers, topic)
    after_the_first_rows(monkeypatch, lambda: trim(servers, topic, 190))
    with pytest.raises(OffsetOutOfRange, match="the first one there is has offset 190") as found:
        read_arrow(servers, topic, max_partition_fetch_bytes=200)
    assert found.value.offset is not None
    assert 0 < found.value.offset < 190


def test_a_topic_that_is_created_again_while_it_is_read_is_not_mixed_with_the_first(
    servers: str, admin: Admin, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recreate() -> None:
        admin.delete_topics([topic])
        wait_for("the end of the topic", lambda: topic not in admin.describe_topics())
        admin.create_topic(topic, 3, 1)
        fill(servers, topic)

    fill(servers, topic)
    after_the_first_rows(monkeypatch, recreate)
    with pytest.raises(TopicReplaced, match="deleted and created again"):
        read_arrow(servers, topic, max_partition_fetch_bytes=200, metadata_max_age_ms=100)


def test_a_topic_with_nothing_to_read_is_an_empty_table(servers: str, topic: str) -> None:
    assert read_arrow(servers, topic).num_rows == 0
    writer = transactional(servers, topic)
    run_transaction(writer, lambda it: it.produce(topic, b"aborted", partition=0), is_commit=False)
    table = read_arrow(servers, topic)
    assert (table.num_rows, table.column_names) == (0, COLUMNS)


@one_broker
def test_polling_arrow_and_polling_records_take_turns_without_a_gap(servers: str, mixed: str) -> None:
    expected = rows(read_all(servers, mixed))
    with Consumer(servers, mixed, auto_offset_reset="earliest", max_partition_fetch_bytes=3000) as consumer:
        found: list[tuple[Any, ...]] = []

        def probe() -> bool:
            found.extend(rows(consumer.poll(0.1, max_records=7)))
            found.extend(arrow_rows(consumer.poll_arrow(0.1, include_headers=True)))
            found.extend(rows([next(consumer)]) if len(found) < len(expected) else [])
            return len(found) >= len(expected)

        wait_for("all records", probe, pause_s=0)
        assert sorted(found) == expected
        empty = consumer.poll_arrow(0.05)
        assert (empty.num_rows, empty.schema.names) == (0, COLUMNS)


def test_importing_the_client_and_making_a_consumer_loads_no_arrow_numpy_or_numba() -> None:
    program = (
        "import sys; from fencepost.client import Consumer, Producer, TopicPartition, PinnedProducers;"
        "Consumer('127.0.0.1:1').close();"
        "print([name for name in ('pyarrow', 'numpy', 'numba', 'fencepost.broker', 'fencepost.server')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@one_broker
@pytest.mark.parametrize(
    ("given", "bytes_min", "bytes_max"), [({}, 1_100_000, 2**22), ({"max": 300_000}, 1, 1_100_000)]
)
def test_a_poll_takes_more_than_kafkas_default_at_once_unless_the_program_says_how_much(
    servers: str, topic: str, given: dict[str, int], bytes_min: int, bytes_max: int
) -> None:
    produce(servers, topic, [bytes(100_000)] * 40, partition=0)
    settings = {"max_partition_fetch_bytes": given["max"]} if given else {}
    with Consumer(servers, **settings) as consumer:
        consumer.assign([(topic, 0)])
        consumer.seek_to_beginning()
        taken = consumer.poll_arrow(timeout=DEADLINE_S)
    assert bytes_min < taken.column("value").nbytes <= bytes_max
