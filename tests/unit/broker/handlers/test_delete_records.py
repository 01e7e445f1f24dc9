from typing import Any

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from tests.unit.broker.builders import Broker, batch_of, produce_request, versions_of


@pytest.fixture
def filled(broker: Broker) -> Broker:
    broker.create_topic("orders")
    for value in (b"a", b"b", b"c"):
        broker.produce("orders", value)
    return broker


def delete(broker: Broker, offset: int, *, topic: str = "orders", partition: int = 0, version: int = 2) -> Any:
    topics = [DeleteRecordsTopic(topic, [DeleteRecordsPartition(partition, offset)])]
    return broker.ask(DeleteRecordsRequest(topics, timeout_ms=1000), version).topics[0].partitions[0]


@pytest.mark.parametrize("version", versions_of("DeleteRecords"))
def test_records_before_the_offset_can_no_longer_be_read(filled: Broker, version: int) -> None:
    result = delete(filled, 2, version=version)
    assert (result.error_code, result.low_watermark) == (ErrorCode.NONE, 2)
    assert filled.fetch("orders", offset=1).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert filled.values("orders", offset=2) == [b"c"]


def test_the_new_start_survives_a_kill_and_a_restart(filled: Broker) -> None:
    delete(filled, 2)
    for reopened in (filled.after_kill(), filled.restarted()):
        seen = reopened.fetch("orders", offset=2)
        assert (seen.log_start_offset, seen.high_watermark) == (2, 3)
        assert reopened.fetch("orders", offset=0).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_the_answer_waits_for_the_disk(filled: Broker) -> None:
    request = DeleteRecordsRequest([DeleteRecordsTopic("orders", [DeleteRecordsPartition(0, 1)])])
    sent = filled.send(request, 2)
    assert sent.reply is None
    filled.commit()
    assert sent.reply.topics[0].partitions[0].low_watermark == 1


def test_minus_one_deletes_all_that_can_be_seen(filled: Broker) -> None:
    assert delete(filled, -1).low_watermark == 3
    assert filled.produce("orders", b"d").base_offset == 3
    assert filled.values("orders", offset=3) == [b"d"]


def test_what_is_not_synced_cannot_be_deleted(filled: Broker) -> None:
    filled.send(produce_request("orders", batch_of(b"d")), 12)
    request = DeleteRecordsRequest([DeleteRecordsTopic("orders", [DeleteRecordsPartition(0, 4)])])
    sent = filled.send(request, 2)
    filled.commit()
    assert sent.reply.topics[0].partitions[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_the_start_never_moves_back(filled: Broker) -> None:
    delete(filled, 2)
    assert delete(filled, 1).low_watermark == 2


def test_a_producer_goes_on_after_its_records_are_deleted(broker: Broker) -> None:
    broker.create_topic("orders")
    producer_id, producer_epoch = broker.init_producer()
    identity = {"producer_id": producer_id, "producer_epoch": producer_epoch}
    broker.produce("orders", b"a", base_sequence=0, **identity)
    delete(broker, -1)
    assert broker.after_kill().produce("orders", b"b", base_sequence=1, **identity).error_code == ErrorCode.NONE


@pytest.mark.parametrize(
    ("topic", "partition", "offset", "error_code"),
    [
        ("orders", 0, 4, ErrorCode.OFFSET_OUT_OF_RANGE),
        ("orders", 0, -2, ErrorCode.OFFSET_OUT_OF_RANGE),
        ("orders", 9, 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("nowhere", 0, 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("__consumer_offsets", 0, 0, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("table", 0, 0, ErrorCode.POLICY_VIOLATION),
    ],
)
def test_what_cannot_be_deleted_is_refused(
    filled: Broker, topic: str, partition: int, offset: int, error_code: ErrorCode
) -> None:
    filled.create_topic("table", cleanup_policy="compact")
    result = delete(filled, offset, topic=topic, partition=partition)
    assert (result.error_code, result.low_watermark) == (error_code, -1)
