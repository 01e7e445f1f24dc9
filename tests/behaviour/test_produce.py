"""What a producer is told when its batch may not be appended, and when it was before."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.records.compression import Compression
from fencepost.records.header import read_header
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest
from tests.behaviour.peer import Peer
from tests.behaviour.producing import batch_of, batches_in, fetch, produce, produce_request, values_in

MAX_SEQUENCE = 2**31 - 1


def new_producer_id(peer: Peer) -> int:
    answer = peer.client.put_settled(InitProducerIdRequest(None, 0), 4)
    assert (answer.error_code, answer.producer_epoch) == (0, 0)
    return int(answer.producer_id)


def test_an_append_answers_with_its_base_offset_and_the_log_start(peer: Peer) -> None:
    topic = peer.create_topic()
    first = produce(peer.client, topic, batch_of(b"a", b"b"))
    second = produce(peer.client, topic, batch_of(b"c"))
    assert (first.error_code, first.base_offset, first.log_append_time_ms, first.log_start_offset) == (0, 0, -1, 0)
    assert (second.error_code, second.base_offset, second.log_start_offset) == (0, 2, 0)
    assert values_in(fetch(peer.client, topic)) == [b"a", b"b", b"c"]


def test_a_flipped_bit_is_a_corrupt_message(peer: Peer) -> None:
    topic = peer.create_topic()
    batch = batch_of(b"value")
    answer = produce(peer.client, topic, batch[:-1] + bytes([batch[-1] ^ 1]))
    assert (answer.error_code, answer.base_offset) == (ErrorCode.CORRUPT_MESSAGE, -1)


@pytest.mark.parametrize(
    ("batch", "error_code"),
    [
        pytest.param(batch_of(b"v", is_control=True), ErrorCode.INVALID_RECORD, id="control"),
        pytest.param(batch_of(b"v", producer_id=7, producer_epoch=0), ErrorCode.INVALID_RECORD, id="no sequence"),
        pytest.param(batch_of(b"v", base_offset=5), ErrorCode.INVALID_RECORD, id="base offset"),
        pytest.param(batch_of(b"v") + batch_of(b"w"), ErrorCode.INVALID_RECORD, id="two batches"),
        pytest.param(b"", ErrorCode.INVALID_RECORD, id="no records"),
    ],
)
def test_a_record_set_that_no_client_may_write_is_refused(peer: Peer, batch: bytes, error_code: int) -> None:
    topic = peer.create_topic()
    answer = produce(peer.client, topic, batch)
    assert answer.error_code == error_code
    assert fetch(peer.client, topic).high_watermark == 0


def test_a_batch_above_the_topics_limit_is_too_large(peer: Peer) -> None:
    topic = peer.create_topic(max_message_bytes="200")
    assert produce(peer.client, topic, batch_of(b"x" * 100)).error_code == 0
    assert produce(peer.client, topic, batch_of(b"x" * 200)).error_code == ErrorCode.MESSAGE_TOO_LARGE


def test_zstd_needs_version_7(peer: Peer) -> None:
    topic = peer.create_topic()
    batch = batch_of(b"x" * 100, compression=Compression.ZSTD)
    assert produce(peer.client, topic, batch, version=6).error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert produce(peer.client, topic, batch, version=7).error_code == 0


def test_an_unknown_topic_and_an_unknown_partition_have_one_code(peer: Peer) -> None:
    topic = peer.create_topic()
    assert produce(peer.client, topic, batch_of(b"v"), partition=1).error_code == 3
    assert produce(peer.client, peer.name("absent"), batch_of(b"v")).error_code == 3


def test_acks_other_than_none_one_and_all_are_refused(peer: Peer) -> None:
    topic = peer.create_topic()
    answer = produce(peer.client, topic, batch_of(b"v"), acks=2)
    assert answer.error_code == ErrorCode.INVALID_REQUIRED_ACKS


def test_an_error_of_an_append_without_acks_closes_the_connection(peer: Peer) -> None:
    topic = peer.create_topic()
    client = peer.connect()
    client.post(produce_request(topic, batch_of(b"v"), acks=0), 11)
    client.post(produce_request(topic, batch_of(b"w", base_offset=5), acks=0), 11)
    assert client.is_closed_by_broker()
    assert values_in(fetch(peer.client, topic, min_bytes=1, max_wait_ms=5000)) == [b"v"]


def test_a_compacted_topic_wants_keys(peer: Peer) -> None:
    topic = peer.create_topic(cleanup_policy="compact")
    answer = produce(peer.client, topic, batch_of(b"no key"))
    assert answer.error_code == ErrorCode.INVALID_RECORD
    indexes = [each.batch_index for each in answer.record_errors]
    assert indexes == peer.differs("record-errors", kafka=[0], fencepost=[])


def test_the_broker_stamps_its_own_time_where_the_topic_says_so(peer: Peer) -> None:
    topic = peer.create_topic(message_timestamp_type="LogAppendTime")
    answer = produce(peer.client, topic, batch_of(b"v", timestamp_ms=1))
    [batch] = batches_in(fetch(peer.client, topic))
    assert answer.log_append_time_ms > 1
    assert read_header(batch).max_timestamp == answer.log_append_time_ms


def test_null_records_are_answered(peer: Peer) -> None:
    topic, client = peer.create_topic(), peer.connect()
    client.socket.settimeout(1)
    client.post(produce_request(topic, None), 11)
    try:
        error_code = client.collect(produce_request(topic, None), 11).responses[0].partition_responses[0].error_code
    except TimeoutError:
        error_code = None
    assert error_code == peer.differs("null-records", kafka=None, fencepost=ErrorCode.INVALID_RECORD)


class TestIdempotence:
    def test_any_of_the_last_five_batches_is_recognised_and_an_older_one_is_a_gap(self, peer: Peer) -> None:
        topic, producer_id = peer.create_topic(), new_producer_id(peer)
        batches = [batch_of(b"v", producer_id=producer_id, producer_epoch=0, base_sequence=each) for each in range(6)]
        offsets = [produce(peer.client, topic, batch).base_offset for batch in batches]
        again = [produce(peer.client, topic, batch) for batch in batches]
        assert offsets == list(range(6))
        assert again[0].error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert [(each.error_code, each.base_offset) for each in again[1:]] == [(0, each) for each in range(1, 6)]
        assert fetch(peer.client, topic).high_watermark == 6

    def test_a_gap_is_out_of_order(self, peer: Peer) -> None:
        topic, producer_id = peer.create_topic(), new_producer_id(peer)
        said = {"producer_id": producer_id, "producer_epoch": 0}
        assert produce(peer.client, topic, batch_of(b"a", base_sequence=0, **said)).error_code == 0
        assert produce(peer.client, topic, batch_of(b"c", base_sequence=2, **said)).error_code == 45

    def test_a_partial_overlap_is_no_duplicate(self, peer: Peer) -> None:
        topic, producer_id = peer.create_topic(), new_producer_id(peer)
        said = {"producer_id": producer_id, "producer_epoch": 0}
        assert produce(peer.client, topic, batch_of(b"a", b"b", base_sequence=0, **said)).error_code == 0
        assert produce(peer.client, topic, batch_of(b"b", b"c", base_sequence=1, **said)).error_code == 45

    def test_a_producer_that_is_not_known_may_start_anywhere(self, peer: Peer) -> None:
        topic, producer_id = peer.create_topic(), new_producer_id(peer)
        said = {"producer_id": producer_id, "producer_epoch": 0}
        assert produce(peer.client, topic, batch_of(b"a", base_sequence=17, **said)).error_code == 0

    def test_a_new_epoch_starts_at_zero(self, peer: Peer) -> None:
        topic, producer_id = peer.create_topic(), new_producer_id(peer)
        first = batch_of(b"a", producer_id=producer_id, producer_epoch=0, base_sequence=0)
        skipping = batch_of(b"b", producer_id=producer_id, producer_epoch=1, base_sequence=1)
        starting = batch_of(b"b", producer_id=producer_id, producer_epoch=1, base_sequence=0)
        assert [produce(peer.client, topic, each).error_code for each in (first, skipping, starting)] == [0, 45, 0]

    def test_a_lower_epoch_is_fenced(self, peer: Peer) -> None:
        topic, producer_id = peer.create_topic(), new_producer_id(peer)
        newer = batch_of(b"a", producer_id=producer_id, producer_epoch=3, base_sequence=0)
        older = batch_of(b"b", producer_id=producer_id, producer_epoch=2, base_sequence=0)
        assert [produce(peer.client, topic, each).error_code for each in (newer, older)] == [0, 47]

    def test_sequences_wrap_to_zero_inside_and_between_batches(self, peer: Peer) -> None:
        topic, producer_id = peer.create_topic(), new_producer_id(peer)
        said = {"producer_id": producer_id, "producer_epoch": 0}
        straddling = batch_of(b"a", b"b", b"c", b"d", base_sequence=MAX_SEQUENCE - 1, **said)
        following = batch_of(b"e", base_sequence=2, **said)
        answers = [produce(peer.client, topic, each) for each in (straddling, following, straddling)]
        assert [(each.error_code, each.base_offset) for each in answers] == [(0, 0), (0, 4), (0, 0)]

    def test_the_epoch_of_a_batch_needs_no_introduction_by_init_producer_id(self, peer: Peer) -> None:
        topic = peer.create_topic()
        batch = batch_of(b"a", producer_id=987_654_321, producer_epoch=12, base_sequence=3)
        assert produce(peer.client, topic, batch).error_code == 0
