"""Arrow tables through `send_arrow`, as confluent-kafka reads them."""

import itertools

import pyarrow as pa
import pytest

from fencepost.client import Producer
from fencepost.client.admin.admin import Admin
from fencepost.client.exceptions import RecordTooLarge, TransactionAborted
from fencepost.client.producer.producer import partition_for_key
from fencepost.settings import InvalidSetting
from tests.behaviour_client.conftest import all_brokers, one_broker, two_brokers
from tests.behaviour_client.reading import read_topic, values
from tests.interop.support import wait_for

pytestmark = one_broker
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


@two_brokers
def test_all_columns_arrive(servers: str, topic: str) -> None:
    table = pa.table(
        {
            "key": pa.array([b"a", None, b"c"], pa.binary()),
            "value": pa.array([b"1", b"2", None], pa.binary()),
            "partition": pa.array([2, 2, 2], pa.int32()),
            "headers": pa.array([[{"key": "h", "value": b"v"}], None, []], HEADERS),
            "timestamp": pa.array([1_700_000_000_001, 1_700_000_000_000, 1_700_000_000_002], pa.timestamp("ms")),
        }
    )
    with Producer(servers) as producer:
        assert producer.send_arrow(topic, table).result(30) == 3
    assert [
        (one.partition, one.key, one.value, one.headers, one.timestamp_ms) for one in read_topic(servers, topic)
    ] == [
        (2, b"a", b"1", (("h", b"v"),), 1_700_000_000_001),
        (2, None, b"2", (), 1_700_000_000_000),
        (2, b"c", None, (), 1_700_000_000_002),
    ]


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_rows_go_where_their_keys_say_and_keep_their_order(servers: str, topic: str, compression: str) -> None:
    rows = [(b"key-%d" % (number % 50), b"%d" % number) for number in range(20_000)]
    table = pa.table({"key": [key for key, _ in rows], "value": [value for _, value in rows]})
    with Producer(servers, compression_type=compression) as producer:
        future = producer.send_arrow(topic, table)
        assert future.result(30) == len(rows)
        assert future.done()
    read = read_topic(servers, topic)
    assert all(partition_for_key(one.key or b"", 3) == one.partition for one in read)
    for partition in range(3):
        expected = [value for key, value in rows if partition_for_key(key, 3) == partition]
        assert [one.value for one in read if one.partition == partition] == expected


def test_rows_without_a_key_are_dealt_out_over_all_partitions(servers: str, topic: str) -> None:
    with Producer(servers) as producer:
        producer.send_arrow(topic, pa.table({"value": [b"%d" % number for number in range(50_000)]})).result(30)
    read = read_topic(servers, topic)
    assert len({one.value for one in read}) == len(read) == 50_000
    counts = [sum(1 for one in read if one.partition == partition) for partition in range(3)]
    assert min(counts) > 10_000


def test_records_and_tables_of_one_producer_keep_their_order(servers: str, topic: str) -> None:
    with Producer(servers, linger_ms=1000) as producer:
        for number in range(10):
            producer.send(topic, b"%d a" % number, partition=1)
            producer.send_arrow(topic, pa.table({"value": [b"%d b" % number], "partition": [1]}))
    expected = [b"%d %s" % (number, kind) for number, kind in itertools.product(range(10), (b"a", b"b"))]
    assert values(servers, topic) == expected


@all_brokers
def test_tables_in_transactions_are_seen_when_they_are_committed(servers: str, topic: str, name: str) -> None:
    with Producer(servers, transactional_id=name) as producer:
        producer.init_transactions()
        for number in range(4):
            producer.begin_transaction()
            rows = pa.table({"value": [b"%d" % number] * 3, "partition": [0, 1, 2]})
            future = producer.send_arrow(topic, rows)
            if number % 2:
                producer.abort_transaction()
                assert isinstance(future.exception(0), TransactionAborted | type(None))
            else:
                producer.commit_transaction()
                assert future.result(0) == 3
    assert values(servers, topic) == [b"0", b"2"] * 3


@two_brokers
def test_batches_fit_what_the_topic_takes_and_a_row_that_does_not_is_named(
    servers: str, admin: Admin, name: str
) -> None:
    admin.create_topic(name, 1, 1, {"max.message.bytes": "3000"})
    with Producer(servers) as producer:
        table = pa.table({"key": [b"k"] * 50, "value": [bytes(1000)] * 50})
        assert producer.send_arrow(name, table).result(30) == 50
        large = pa.table({"key": [b"small", b"large"], "value": [b"", bytes(4000)]})
        with pytest.raises(RecordTooLarge, match="row 1 with key b'large'"):
            producer.send_arrow(name, large)
    assert len(values(servers, name)) == 50


def test_a_row_that_is_too_large_has_its_number_in_the_table(servers: str, admin: Admin, name: str) -> None:
    """Also where rows of other partitions, and other slices, come before it."""
    admin.create_topic(name, 4, 1, {"max.message.bytes": "3000"})
    keys = [b"%d" % number for number in range(5000)]
    sizes = [100] * 4321 + [4000] + [100] * 678
    table = pa.table({"key": keys, "value": [bytes(size) for size in sizes]})
    with (
        Producer(servers, buffer_memory=100_000) as producer,
        pytest.raises(RecordTooLarge, match="row 4321 with key b'4321'"),
    ):
        producer.send_arrow(name, table)


@two_brokers
@pytest.mark.parametrize("acks", ["0", "1", "all"])
@pytest.mark.parametrize("compression_type", ["none", "zstd"])
def test_a_producer_without_numbers_seals_its_batches_too(
    servers: str, topic: str, acks: str, compression_type: str
) -> None:
    expected = sorted(b"%d" % number * 10 for number in range(1000))
    with Producer(servers, enable_idempotence=False, acks=acks, compression_type=compression_type) as producer:
        producer.send_arrow(topic, pa.table({"value": expected})).result(30)
        producer.flush()
    wait_for("all of them", lambda: sorted(values(servers, topic)) == expected)


def test_a_table_larger_than_memory_is_sent_in_slices(servers: str, topic: str) -> None:
    with Producer(servers, buffer_memory=300_000) as producer:
        table = pa.table({"key": [b"%d" % number for number in range(20_000)], "value": [bytes(100)] * 20_000})
        future = producer.send_arrow(topic, table)
        assert producer._outbox.accumulator.used_bytes <= 300_000
        assert future.result(30) == 20_000
    assert len(values(servers, topic)) == 20_000


@pytest.mark.parametrize("partition", [9, -1])
def test_a_partition_that_is_not_there_is_refused_and_an_empty_table_is_nothing(
    servers: str, topic: str, partition: int
) -> None:
    with Producer(servers) as producer:
        with pytest.raises(InvalidSetting, match=f"there is no {partition}; null stands for"):
            producer.send_arrow(topic, pa.table({"value": [b"a", b"b"], "partition": [None, partition]}))
        nowhere = pa.table({"value": [b"a"], "partition": pa.nulls(1, pa.int32())})
        assert producer.send_arrow(topic, nowhere).result(30) == 1
        assert producer.send_arrow(topic, pa.table({"value": pa.array([], pa.binary())})).result(0) == 0
    assert values(servers, topic) == [b"a"]
