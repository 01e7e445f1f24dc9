import pytest

from fencepost.broker.call import NO_REPLY
from fencepost.errors import ErrorCode
from fencepost.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.unit.broker.builders import Broker, batch_of, batches_in, fetch_request, produce_request, versions_of

TXN = {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}


def error_of(broker: Broker, request: ProduceRequest, version: int = 12) -> int:
    (topic,) = broker.ask(request, version).responses
    return topic.partition_responses[0].error_code


@pytest.mark.parametrize("version", versions_of("Produce"))
def test_a_batch_is_stored_and_its_offset_answered(broker: Broker, version: int) -> None:
    broker.create_topic("orders")
    request = produce_request("orders", batch_of(b"a", b"b"))
    request.topic_data[0].topic_id = broker.topic_id("orders")
    broker.ask(request, version)
    (topic,) = broker.ask(request, version).responses
    (answer,) = topic.partition_responses
    assert (answer.index, answer.error_code, answer.base_offset) == (0, ErrorCode.NONE, 2)
    assert broker.values("orders") == [b"a", b"b", b"a", b"b"]


def test_the_answer_does_not_leave_before_the_batch_is_synced(broker: Broker) -> None:
    broker.create_topic("orders")
    sent = broker.send(produce_request("orders", batch_of(b"a")), 12)
    assert sent.reply is None
    seen = broker.send(fetch_request("orders", 0), 12).reply.responses[0].partitions[0]
    assert (seen.high_watermark, batches_in(seen.records)) == (0, [])
    broker.commit()
    assert sent.reply.responses[0].partition_responses[0].error_code == ErrorCode.NONE
    assert broker.values("orders") == [b"a"]


def test_without_acks_there_is_no_answer_but_the_batch_is_there(broker: Broker) -> None:
    broker.create_topic("orders")
    sent = broker.send(produce_request("orders", batch_of(b"a"), acks=0), 12)
    broker.commit()
    assert sent.outcome is NO_REPLY
    assert broker.values("orders") == [b"a"]


def test_an_error_without_acks_closes_the_connection(broker: Broker) -> None:
    assert broker.is_closed(broker.send(produce_request("nowhere", batch_of(b"a"), acks=0)))


@pytest.mark.parametrize(
    ("batch", "error_code"),
    [
        pytest.param(None, ErrorCode.INVALID_RECORD, id="null"),
        pytest.param(b"", ErrorCode.INVALID_RECORD, id="empty"),
        pytest.param(batch_of(b"a") * 2, ErrorCode.INVALID_RECORD, id="two batches"),
        pytest.param(batch_of(b"a")[:-1], ErrorCode.INVALID_RECORD, id="cut short"),
        pytest.param(batch_of(b"a")[:-1] + b"\xff", ErrorCode.CORRUPT_MESSAGE, id="wrong checksum"),
        pytest.param(batch_of(b"a" * 2_000_000), ErrorCode.MESSAGE_TOO_LARGE, id="too large"),
        pytest.param(
            batch_of(b"a", producer_id=1, producer_epoch=0, base_sequence=0, is_control=True),
            ErrorCode.INVALID_RECORD,
            id="control batch",
        ),
    ],
)
def test_a_bad_record_set_is_refused_and_nothing_is_stored(
    broker: Broker, batch: bytes | None, error_code: ErrorCode
) -> None:
    broker.create_topic("orders")
    assert error_of(broker, produce_request("orders", batch)) == error_code
    assert broker.values("orders") == []


@pytest.mark.parametrize(
    ("request_", "version", "error_code"),
    [
        pytest.param(produce_request("nowhere", batch_of(b"a")), 12, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, id="topic"),
        pytest.param(
            produce_request("orders", batch_of(b"a"), partition=9), 12, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, id="index"
        ),
        pytest.param(produce_request("orders", batch_of(b"a")), 13, ErrorCode.UNKNOWN_TOPIC_ID, id="topic id"),
        pytest.param(
            produce_request("__consumer_offsets", batch_of(b"a")), 12, ErrorCode.INVALID_TOPIC_EXCEPTION, id="internal"
        ),
        pytest.param(produce_request("orders", batch_of(b"a"), acks=2), 12, ErrorCode.INVALID_REQUIRED_ACKS, id="acks"),
        pytest.param(
            produce_request("nowhere", batch_of(b"a"), acks=2), 12, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, id="both"
        ),
        pytest.param(
            produce_request("orders", batch_of(b"a", **TXN)),
            12,
            ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            id="transactional batch, no id",
        ),
    ],
)
def test_a_request_that_cannot_be_served_is_refused(
    broker: Broker, request_: ProduceRequest, version: int, error_code: ErrorCode
) -> None:
    broker.create_topic("orders")
    assert error_of(broker, request_, version) == error_code


def test_a_compacted_topic_refuses_records_without_a_key(broker: Broker) -> None:
    broker.create_topic("table", cleanup_policy="compact")
    assert error_of(broker, produce_request("table", batch_of(b"a"))) == ErrorCode.INVALID_RECORD


def test_one_bad_partition_does_not_keep_the_others_from_being_written(broker: Broker) -> None:
    broker.create_topic("orders", 2)
    data = [PartitionProduceData(1, batch_of(b"a")), PartitionProduceData(9, batch_of(b"b"))]
    request = ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="orders", partition_data=data)])
    (topic,) = broker.ask(request, 12).responses
    assert [answer.error_code for answer in topic.partition_responses] == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert broker.values("orders", 1) == [b"a"]


def test_a_resent_batch_is_answered_with_its_first_offset_and_stored_once(broker: Broker) -> None:
    broker.create_topic("orders")
    producer_id, producer_epoch = broker.init_producer()
    identity = {"producer_id": producer_id, "producer_epoch": producer_epoch}
    first = broker.produce("orders", b"a", base_sequence=0, **identity)
    broker.produce("orders", b"b", base_sequence=1, **identity)
    again = broker.produce("orders", b"a", base_sequence=0, **identity)
    assert (again.error_code, again.base_offset) == (ErrorCode.NONE, first.base_offset)
    assert broker.values("orders") == [b"a", b"b"]


def test_a_gap_in_the_sequence_is_refused_also_after_a_restart(broker: Broker) -> None:
    broker.create_topic("orders")
    producer_id, producer_epoch = broker.init_producer()
    identity = {"producer_id": producer_id, "producer_epoch": producer_epoch}
    broker.produce("orders", b"a", base_sequence=0, **identity)
    for reopened in (broker.after_kill(), broker.restarted()):
        answer = reopened.produce("orders", b"c", base_sequence=2, **identity)
        assert answer.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_append_time_is_the_brokers_and_is_answered(broker: Broker) -> None:
    broker.create_topic("orders", message_timestamp_type="LogAppendTime")
    broker.sleep(5_000)
    answer = broker.ask(produce_request("orders", batch_of(b"a", timestamp_ms=1)), 12).responses[0]
    assert answer.partition_responses[0].log_append_time_ms == broker.now.wall_ms


@pytest.mark.parametrize(
    ("version", "error_code"),
    [
        (3, ErrorCode.INVALID_TXN_STATE),
        (10, ErrorCode.INVALID_TXN_STATE),
        (11, ErrorCode.TRANSACTION_ABORTABLE),
        (12, ErrorCode.NONE),
    ],
)
def test_a_partition_that_was_not_added_is_refused_up_to_v11_and_added_from_v12(
    broker: Broker, version: int, error_code: ErrorCode
) -> None:
    broker.create_topic("orders")
    identity = broker.init_producer("shop")
    answer = broker.produce_in_transaction("orders", b"a", identity=identity, transactional_id="shop", version=version)
    assert answer.error_code == error_code


def test_a_full_disk_is_an_error_that_clients_retry(broker: Broker) -> None:
    broker.create_topic("orders", max_message_bytes="10000000")
    broker.disk.capacity_bytes = 0
    batch = batch_of(b"a" * 900_000)
    errors = [error_of(broker, produce_request("orders", batch)) for _ in range(3)]
    assert errors[-1] == ErrorCode.KAFKA_STORAGE_ERROR
    stored = errors.count(ErrorCode.NONE)
    broker.disk.capacity_bytes = None
    assert error_of(broker, produce_request("orders", batch)) == ErrorCode.NONE
    assert broker.core.log("orders", 0).state.end_offset == stored + 1  # type: ignore[union-attr]
