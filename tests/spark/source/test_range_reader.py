"""One range of one partition, read over connections that stay, get lost, or are given up half way."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.client import Admin, Producer
from fencepost.client.cluster import Cluster
from fencepost.client.consumer.arrow_range import FIRST_FETCH_BYTES, PartitionRange, RangeReader, TopicReplaced
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.exceptions import OffsetOutOfRange, Timeout
from fencepost.client.settings import client_settings
from fencepost.server.embedded import EmbeddedBroker
from fencepost.types import NO_TOPIC_ID, OffsetRange, TopicPartition
from fencepost.wire.api import FETCH
from tests.interop.support import wait_for
from tests.spark.source.broker_use import QUICK, create, numbered, produce, recreate, run_transaction, trim

WHERE = TopicPartition("purchases", 0)
ROWS = 3000


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(settings=QUICK, data=tmp_path) as broker:
        create(broker, "purchases")
        yield broker


def open_reader(broker: EmbeddedBroker, **settings: object) -> RangeReader:
    checked = client_settings(ConsumerSettings, settings, kind="reader")
    return RangeReader(Cluster(broker.bootstrap_servers, checked, allow_auto_topic_creation=False), checked)


@pytest.fixture
def reader(broker: EmbeddedBroker) -> Iterator[RangeReader]:
    opened = open_reader(broker, max_partition_fetch_bytes=64 * 1024)
    yield opened
    opened.close()


def fill(broker: EmbeddedBroker, count: int = ROWS) -> None:
    with Producer(broker.bootstrap_servers, batch_size=4096) as producer:
        for number in range(count):
            producer.send("purchases", value=b"%0100d" % number, partition=0)
        producer.flush()


def wanted(broker: EmbeddedBroker, start: int, end: int) -> PartitionRange:
    with Admin(broker.bootstrap_servers) as admin:
        topic_id = admin.describe_topics(["purchases"])["purchases"].topic_id
    return PartitionRange(WHERE, topic_id, OffsetRange(start, end))


def offsets(reader: RangeReader, asked: PartitionRange) -> list[int]:
    batches = reader.read(asked, include_headers=False)
    return [offset for batch in batches for offset in batch.column("offset").to_pylist()]


@pytest.mark.parametrize(("start", "end"), [(0, ROWS), (0, 1), (17, 18), (1, ROWS - 1), (ROWS - 1, ROWS), (5, 5)])
def test_exactly_the_range_is_read(broker: EmbeddedBroker, reader: RangeReader, start: int, end: int) -> None:
    fill(broker)
    assert offsets(reader, wanted(broker, start, end)) == list(range(start, end))


def test_a_second_range_needs_no_new_connection(broker: EmbeddedBroker, reader: RangeReader) -> None:
    fill(broker)
    asked = wanted(broker, 0, ROWS)
    offsets(reader, asked)
    opened = broker.server_counts.connections_opened
    assert offsets(reader, asked) == list(range(ROWS))
    assert broker.server_counts.connections_opened == opened


def test_a_read_that_is_given_up_does_not_disturb_the_next(broker: EmbeddedBroker, reader: RangeReader) -> None:
    fill(broker)
    asked = wanted(broker, 0, ROWS)
    begun = reader.read(asked, include_headers=False)
    next(begun)
    begun.close()
    assert offsets(reader, asked) == list(range(ROWS))


def test_the_next_answer_is_on_its_way_while_the_last_is_worked_upon(
    broker: EmbeddedBroker, reader: RangeReader
) -> None:
    fill(broker)
    begun = reader.read(wanted(broker, 0, ROWS), include_headers=False)
    before = broker.server_counts.requests.get(FETCH, 0)
    next(begun)
    wait_for("the second fetch", lambda: broker.server_counts.requests.get(FETCH, 0) >= before + 2)
    begun.close()


def test_a_short_range_does_not_bring_the_rest_of_the_partition(broker: EmbeddedBroker) -> None:
    fill(broker, 30_000)
    reader = open_reader(broker, max_partition_fetch_bytes=50_000_000)
    asked = wanted(broker, 0, 12_000)
    before = broker.server_counts.sent_bytes
    assert offsets(reader, asked) == list(range(12_000))
    assert broker.server_counts.sent_bytes - before < 12_000 * 120 + FIRST_FETCH_BYTES
    reader.close()


def test_a_broker_that_is_restarted_half_way_is_read_on(
    broker: EmbeddedBroker, reader: RangeReader, tmp_path: Path
) -> None:
    fill(broker)
    begun = reader.read(wanted(broker, 0, ROWS), include_headers=False)
    seen = next(begun).column("offset").to_pylist()
    broker.stop()
    with EmbeddedBroker(settings=QUICK, data=tmp_path, port=broker.port):
        seen += [offset for batch in begun for offset in batch.column("offset").to_pylist()]
    assert seen == list(range(ROWS))


def test_a_range_that_ends_in_markers_ends(broker: EmbeddedBroker, reader: RangeReader) -> None:
    run_transaction(broker, "purchases", numbered("kept", 3))
    run_transaction(broker, "purchases", numbered("dropped", 3), commits=False)
    assert offsets(reader, wanted(broker, 0, 8)) == [0, 1, 2]
    assert offsets(reader, wanted(broker, 4, 8)) == []


def test_a_range_that_is_gone_is_out_of_range(broker: EmbeddedBroker, reader: RangeReader) -> None:
    fill(broker, 100)
    trim(broker, "purchases", 50)
    with pytest.raises(OffsetOutOfRange, match="purchases-0 at offset 49"):
        offsets(reader, wanted(broker, 49, 60))
    assert reader.earliest(WHERE) == 50
    assert offsets(reader, wanted(broker, 50, 60)) == list(range(50, 60))


def test_a_topic_created_again_is_not_read_for_the_first_one(broker: EmbeddedBroker, reader: RangeReader) -> None:
    fill(broker, 100)
    asked = wanted(broker, 0, 100)
    assert len(offsets(reader, asked)) == 100
    recreate(broker, "purchases")
    fill(broker, 100)
    with pytest.raises(TopicReplaced, match="deleted and created again"):
        offsets(reader, asked)


def test_a_cluster_without_topic_ids_is_asked_by_name(broker: EmbeddedBroker, reader: RangeReader) -> None:
    fill(broker, 10)
    assert offsets(reader, PartitionRange(WHERE, NO_TOPIC_ID, OffsetRange(0, 10))) == list(range(10))


def test_an_end_that_never_comes_is_a_timeout(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", numbered("first", 3))
    reader = open_reader(broker, default_api_timeout_ms=300, fetch_max_wait_ms=50)
    with pytest.raises(Timeout, match="from offset 3 on"):
        offsets(reader, wanted(broker, 0, 5))
    reader.close()
