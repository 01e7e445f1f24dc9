"""Fetch and ListOffsets: limits, long polls, sessions, isolation, and what lies outside the log."""

import time

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from tests.behaviour.peer import Peer
from tests.behaviour.producing import (
    READ_COMMITTED,
    TIMESTAMP_MS,
    batch_of,
    batches_in,
    fetch,
    fetch_request,
    produce,
    values_in,
)
from tests.behaviour.transactional_producer import CLASSIC, TransactionalProducer

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
NEW_SESSION, NO_SESSION = 0, -1


def filled_topic(peer: Peer, *values: bytes) -> str:
    topic = peer.create_topic()
    for index, value in enumerate(values):
        assert produce(peer.client, topic, batch_of(value, timestamp_ms=TIMESTAMP_MS + 10 * index)).error_code == 0
    return topic


def delete_records(peer: Peer, topic: str, offset: int) -> tuple[int, int]:
    wanted = DeleteRecordsTopic(name=topic, partitions=[DeleteRecordsPartition(0, offset)])
    answer = peer.put(DeleteRecordsRequest(topics=[wanted], timeout_ms=10_000), 2).topics[0].partitions[0]
    return answer.error_code, answer.low_watermark


def list_offset(peer: Peer, topic: str, timestamp: int, *, version: int = 7, **fields: int) -> tuple[int, int, int]:
    """(error code, timestamp, offset) for one partition."""
    wanted = ListOffsetsPartition(fields.pop("partition", 0), timestamp=timestamp)
    topics = [ListOffsetsTopic(name=topic, partitions=[wanted])]
    answer = peer.put(ListOffsetsRequest(replica_id=-1, topics=topics, **fields), version).topics[0].partitions[0]
    return answer.error_code, answer.timestamp, answer.offset


class TestFetch:
    def test_offsets_outside_the_log_are_out_of_range_and_its_end_is_empty(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"a", b"b")
        assert fetch(peer.client, topic, offset=3).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        end = fetch(peer.client, topic, offset=2)
        assert (end.error_code, values_in(end), end.high_watermark) == (0, [], 2)
        assert delete_records(peer, topic, 1) == (0, 1)
        below = fetch(peer.client, topic, offset=0)
        assert below.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        assert (below.high_watermark, below.last_stable_offset) == (-1, -1)
        assert fetch(peer.client, topic, offset=1).log_start_offset == 1

    def test_an_unknown_partition_is_named(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"a")
        answer = fetch(peer.client, topic, partition=7)
        assert (answer.error_code, answer.high_watermark) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)

    def test_the_first_batch_comes_whole_however_small_the_limit(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"x" * 1000, b"y" * 1000)
        assert values_in(fetch(peer.client, topic, partition_max_bytes=1)) == [b"x" * 1000]
        assert values_in(fetch(peer.client, topic, max_bytes=1)) == [b"x" * 1000]

    def test_a_partition_behind_the_limit_comes_empty(self, peer: Peer) -> None:
        topic = peer.create_topic(partitions=2)
        for partition in (0, 1):
            produce(peer.client, topic, batch_of(b"x" * 1000), partition=partition)
        wanted = [FetchPartition(each, fetch_offset=0, partition_max_bytes=1 << 20) for each in (0, 1)]
        request = FetchRequest(max_bytes=1, topics=[FetchTopic(topic=topic, partitions=wanted)])
        answer = peer.put(request, 11).responses[0].partitions
        assert [len(values_in(each)) for each in sorted(answer, key=lambda each: each.partition_index)] == [1, 0]

    def test_a_fetch_from_the_middle_of_a_batch_gets_the_whole_batch(self, peer: Peer) -> None:
        topic = peer.create_topic()
        produce(peer.client, topic, batch_of(b"a", b"b", b"c"))
        assert values_in(fetch(peer.client, topic, offset=1)) == [b"a", b"b", b"c"]

    def test_an_empty_long_poll_waits_for_its_time(self, peer: Peer) -> None:
        topic = peer.create_topic()
        begin = time.monotonic()
        answer = fetch(peer.client, topic, min_bytes=1, max_wait_ms=300)
        assert 0.29 <= time.monotonic() - begin < 5
        assert (answer.error_code, values_in(answer)) == (0, [])

    def test_a_long_poll_ends_when_records_arrive(self, peer: Peer) -> None:
        topic, reader = peer.create_topic(), peer.connect()
        request = fetch_request(topic, min_bytes=1, max_wait_ms=9_000)
        reader.post(request, 12)
        begin = time.monotonic()
        produce(peer.client, topic, batch_of(b"here"))
        answer = reader.collect(request, 12).responses[0].partitions[0]
        assert time.monotonic() - begin < 5
        assert values_in(answer) == [b"here"]

    def test_a_long_poll_waits_for_enough_bytes(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"small")
        begin = time.monotonic()
        answer = fetch(peer.client, topic, min_bytes=10_000, max_wait_ms=300)
        assert time.monotonic() - begin >= 0.29
        assert values_in(answer) == [b"small"]

    def test_an_error_ends_a_long_poll_at_once(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"a")
        begin = time.monotonic()
        assert fetch(peer.client, topic, offset=9, min_bytes=1, max_wait_ms=9_000).error_code == 1
        assert time.monotonic() - begin < 5

    def test_a_read_committed_poll_wakes_when_the_transaction_ends(self, peer: Peer) -> None:
        topic, reader = peer.create_topic(), peer.connect()
        producer = TransactionalProducer(peer, CLASSIC)
        producer.write(topic, b"held")
        request = fetch_request(topic, min_bytes=1, max_wait_ms=9_000, isolation_level=READ_COMMITTED)
        reader.post(request, 12)
        producer.commit()
        answer = reader.collect(request, 12).responses[0].partitions[0]
        assert values_in(answer) == [b"held"]
        assert answer.aborted_transactions == []

    def test_read_uncommitted_has_no_list_of_aborted_transactions(self, peer: Peer) -> None:
        topic = peer.create_topic()
        producer = TransactionalProducer(peer, CLASSIC)
        producer.write(topic, b"seen")
        producer.abort()
        answer = fetch(peer.client, topic)
        assert answer.aborted_transactions is None
        assert values_in(answer) == [b"seen"]
        assert len(batches_in(answer)) == 2


class TestSessions:
    def test_a_session_answers_only_what_changed(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"a")
        first = peer.put(fetch_request(topic, session_id=0, session_epoch=NEW_SESSION), 12)
        assert first.error_code == 0
        assert first.session_id > 0
        moved = fetch_request(topic, offset=1, session_id=first.session_id, session_epoch=1)
        assert peer.put(moved, 12).responses == []
        produce(peer.client, topic, batch_of(b"b"))
        same = FetchRequest(max_wait_ms=0, min_bytes=0, session_id=first.session_id, session_epoch=2)
        [changed] = peer.put(same, 12).responses
        assert values_in(changed.partitions[0]) == [b"b"]

    def test_an_unknown_session_and_a_wrong_epoch_are_refused(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"a")
        unknown = peer.put(fetch_request(topic, session_id=2_000_000_000, session_epoch=1), 12)
        assert unknown.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        first = peer.put(fetch_request(topic, session_id=0, session_epoch=NEW_SESSION), 12)
        wrong = peer.put(fetch_request(topic, session_id=first.session_id, session_epoch=7), 12)
        assert wrong.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH

    def test_without_a_session_everything_is_answered(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"a")
        answer = peer.put(fetch_request(topic, offset=1, session_id=0, session_epoch=NO_SESSION), 12)
        assert (answer.session_id, len(answer.responses)) == (0, 1)


class TestListOffsets:
    def test_earliest_latest_and_by_time(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"a", b"b", b"c")
        assert list_offset(peer, topic, EARLIEST) == (0, -1, 0)
        assert list_offset(peer, topic, LATEST) == (0, -1, 3)
        assert list_offset(peer, topic, TIMESTAMP_MS + 5) == (0, TIMESTAMP_MS + 10, 1)
        assert list_offset(peer, topic, TIMESTAMP_MS + 21) == (0, -1, -1)
        assert list_offset(peer, topic, MAX_TIMESTAMP) == (0, TIMESTAMP_MS + 20, 2)

    def test_the_earliest_offset_follows_deletion(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"a", b"b", b"c")
        assert delete_records(peer, topic, 2) == (0, 2)
        assert list_offset(peer, topic, EARLIEST) == (0, -1, 2)
        assert list_offset(peer, topic, 0) == (0, TIMESTAMP_MS + 20, 2)

    def test_deletion_beyond_the_high_watermark_is_out_of_range(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"a")
        assert delete_records(peer, topic, 5) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
        assert delete_records(peer, topic, -1) == (0, 1)

    def test_the_latest_offset_by_isolation(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"a")
        producer = TransactionalProducer(peer, CLASSIC)
        producer.write(topic, b"open")
        assert list_offset(peer, topic, LATEST, isolation_level=READ_COMMITTED) == (0, -1, 1)
        assert list_offset(peer, topic, LATEST) == (0, -1, 2)
        producer.commit()
        assert list_offset(peer, topic, LATEST, isolation_level=READ_COMMITTED) == (0, -1, 3)

    def test_an_unknown_partition_is_named(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"a")
        assert list_offset(peer, topic, LATEST, partition=4) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1)

    def test_a_version_without_maximum_timestamps_takes_them_for_a_time(self, peer: Peer) -> None:
        topic = filled_topic(peer, b"a")
        error_code, _, _ = list_offset(peer, topic, MAX_TIMESTAMP, version=6)
        assert error_code == ErrorCode.UNSUPPORTED_VERSION


@pytest.mark.parametrize("version", [4, 7, 11, 12])
def test_every_version_by_name_reads_the_same(peer: Peer, version: int) -> None:
    topic = filled_topic(peer, b"a", b"b")
    assert values_in(fetch(peer.client, topic, version=version)) == [b"a", b"b"]
