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


def test_one_bad_partition_does_not_keep_the_others_from_being_written(broker: Broker) -> None:
    broker.create_topic("orders", 2)
    data = [PartitionProduceData(1, batch_of(b"a")), PartitionProduceData(9, batch_of(b"b"))]
    request = ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="orders", partition_data=data)])
    (topic,) = broker.ask(request, 12).responses
    assert [answer.error_code for answer in topic.partition_responses] == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert broker.values("orders", 1) == [b"a"]
