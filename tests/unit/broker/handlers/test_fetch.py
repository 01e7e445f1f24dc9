import pytest

from fencepost.broker.call import PARKED
from fencepost.errors import ErrorCode
from fencepost.wire.messages.delete_topics import DeleteTopicsRequest
from fencepost.wire.messages.end_txn import EndTxnRequest
from fencepost.wire.messages.fetch import FetchRequest, FetchTopic, ForgottenTopic
from tests.unit.broker.builders import Broker, batch_of, batches_in, fetch_request, produce_request, versions_of

READ_COMMITTED = 1


@pytest.fixture
def filled(broker: Broker) -> Broker:
    broker.create_topic("orders", 2)
    broker.produce("orders", b"a", b"b")
    return broker


def sizes(reply) -> dict[int, int]:  # type: ignore[no-untyped-def]
    return {
        data.partition_index: len(batches_in(data.records)) for topic in reply.responses for data in topic.partitions
    }


@pytest.mark.parametrize("version", versions_of("Fetch"))
def test_records_come_back_as_they_were_sent(filled: Broker, version: int) -> None:
    request = fetch_request("orders", 0)
    request.topics[0].topic_id = filled.topic_id("orders")
    (topic,) = filled.ask(request, version).responses
    (data,) = topic.partitions
    assert (data.error_code, data.high_watermark, data.last_stable_offset) == (ErrorCode.NONE, 2, 2)
    (batch,) = batches_in(data.records)
    assert batch[61:] == batch_of(b"a", b"b")[61:]


@pytest.mark.parametrize(
    ("request_", "version", "error_code"),
    [
        pytest.param(fetch_request("nowhere", 0), 12, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, id="topic"),
        pytest.param(fetch_request("orders", 9), 12, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, id="index"),
        pytest.param(fetch_request("orders", 0), 13, ErrorCode.UNKNOWN_TOPIC_ID, id="topic id"),
        pytest.param(fetch_request("orders", 0, offset=3), 12, ErrorCode.OFFSET_OUT_OF_RANGE, id="behind the end"),
        pytest.param(fetch_request("orders", 0, offset=-1), 12, ErrorCode.OFFSET_OUT_OF_RANGE, id="negative"),
    ],
)
def test_an_error_is_answered_at_once_and_never_waited_for(
    filled: Broker, request_: FetchRequest, version: int, error_code: ErrorCode
) -> None:
    request_.max_wait_ms = 60_000
    assert filled.ask(request_, version).responses[0].partitions[0].error_code == error_code


@pytest.mark.parametrize(
    ("leader_epoch", "error_code"),
    [(-1, ErrorCode.NONE), (0, ErrorCode.NONE), (3, ErrorCode.UNKNOWN_LEADER_EPOCH)],
)
def test_a_client_that_knows_a_later_leader_is_told_so(
    filled: Broker, leader_epoch: int, error_code: ErrorCode
) -> None:
    request = fetch_request("orders", 0)
    request.topics[0].partitions[0].current_leader_epoch = leader_epoch
    assert filled.ask(request, 12).responses[0].partitions[0].error_code == error_code


def test_an_isolation_level_that_does_not_exist_is_refused(filled: Broker) -> None:
    assert filled.ask(fetch_request("orders", 0, isolation_level=7), 12).error_code == ErrorCode.INVALID_REQUEST


def test_a_fetch_of_no_partitions_does_not_wait(filled: Broker) -> None:
    assert filled.ask(fetch_request("orders", max_wait_ms=60_000), 12).responses == []


def test_a_long_poll_ends_when_enough_is_synced(filled: Broker) -> None:
    sent = filled.send(fetch_request("orders", 0, offset=2, max_wait_ms=500), 12)
    assert sent.outcome is PARKED
    filled.send(produce_request("orders", batch_of(b"c")), 12)
    assert sent.reply is None
    filled.commit()
    assert sizes(sent.reply) == {0: 1}


def test_a_long_poll_goes_on_while_there_is_too_little(filled: Broker) -> None:
    sent = filled.send(fetch_request("orders", 0, offset=2, max_wait_ms=500, min_bytes=10_000), 12)
    filled.produce("orders", b"c")
    assert sent.reply is None
    filled.produce("orders", b"d" * 10_000)
    assert sizes(sent.reply) == {0: 2}


def test_a_long_poll_ends_with_its_time_and_what_there_is(filled: Broker) -> None:
    sent = filled.send(fetch_request("orders", 0, offset=2, max_wait_ms=500), 12)
    filled.sleep(499)
    assert sent.reply is None
    filled.sleep(1)
    assert sizes(sent.reply) == {0: 0}
    assert filled.core.parked_fetches.wake_at_ms is None


def test_growth_of_another_partition_does_not_end_a_long_poll(filled: Broker) -> None:
    sent = filled.send(fetch_request("orders", 0, offset=2, max_wait_ms=500), 12)
    filled.produce("orders", b"x", partition=1)
    assert sent.reply is None


def test_a_long_poll_on_a_topic_that_is_deleted_is_told_at_once(filled: Broker) -> None:
    sent = filled.send(fetch_request("orders", 0, offset=2, max_wait_ms=60_000), 12)
    filled.ask(DeleteTopicsRequest(topic_names=["orders"]), 5)
    (data,) = sent.reply.responses[0].partitions
    assert data.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_the_long_poll_of_a_connection_that_is_gone_is_forgotten(filled: Broker) -> None:
    sent = filled.send(fetch_request("orders", 0, offset=2, max_wait_ms=500), 12)
    filled.core.connection_closed(sent.call.peer)
    filled.produce("orders", b"c")
    filled.sleep(1_000)
    assert sent.reply is None


def test_a_read_committed_long_poll_ends_when_the_transaction_does(filled: Broker) -> None:
    identity = filled.init_producer("shop")
    filled.produce_in_transaction("orders", b"c", identity=identity, transactional_id="shop")
    request = fetch_request("orders", 0, offset=2, max_wait_ms=500, isolation_level=READ_COMMITTED)
    sent = filled.send(request, 12)
    assert sent.outcome is PARKED
    filled.ask(EndTxnRequest("shop", *identity, committed=True), 5)
    assert sizes(sent.reply) == {0: 2}


def test_the_first_batch_is_returned_even_if_it_is_larger_than_the_limit(filled: Broker) -> None:
    request = fetch_request("orders", 0)
    request.max_bytes = request.topics[0].partitions[0].partition_max_bytes = 1
    assert sizes(filled.ask(request, 12)) == {0: 1}


def test_the_limit_of_the_answer_is_shared_by_its_partitions(filled: Broker) -> None:
    filled.produce("orders", b"x", partition=1)
    request = fetch_request("orders", 0, 1)
    request.max_bytes = 1
    assert sizes(filled.ask(request, 12)) == {0: 1, 1: 0}


def test_a_session_sends_what_is_new_and_nothing_else(filled: Broker) -> None:
    opened = filled.ask(fetch_request("orders", 0, 1, session=(0, 0)), 12)
    assert opened.session_id > 0
    assert sizes(opened) == {0: 1, 1: 0}
    moved = filled.ask(fetch_request("orders", 0, offset=2, session=(opened.session_id, 1)), 12)
    assert sizes(moved) == {}
    filled.produce("orders", b"x", partition=1)
    assert sizes(filled.ask(fetch_request("orders", session=(opened.session_id, 2)), 12)) == {1: 1}


def test_a_partition_that_the_client_forgets_is_no_longer_sent(filled: Broker) -> None:
    opened = filled.ask(fetch_request("orders", 0, 1, session=(0, 0)), 12)
    request = fetch_request("orders", session=(opened.session_id, 1))
    request.forgotten_topics_data = [ForgottenTopic(topic="orders", partitions=[0])]
    assert sizes(filled.ask(request, 12)) == {}


def test_a_session_by_topic_id_survives_as_long_as_the_topic_does(filled: Broker) -> None:
    request = fetch_request("orders", 0, session=(0, 0))
    request.topics = [FetchTopic(topic_id=filled.topic_id("orders"), partitions=request.topics[0].partitions)]
    opened = filled.ask(request, 17)
    assert opened.responses[0].topic_id == filled.topic_id("orders")
    filled.produce("orders", b"c")
    (topic,) = filled.ask(fetch_request("orders", session=(opened.session_id, 1)), 17).responses
    assert len(batches_in(topic.partitions[0].records)) == 2
