import pytest

from fencepost.errors import ErrorCode
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.wire.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from fencepost.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from tests.unit.broker.builders import Broker, batch_of, produce_request, versions_of

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -1, -2, -3, -4, -5, -6


@pytest.fixture
def filled(broker: Broker) -> Broker:
    """Offsets 0 and 1 at time 1000, 2 at 5000, 3 at 3000."""
    broker.create_topic("orders")
    for timestamp_ms, values in ((1000, (b"a", b"b")), (5000, (b"c",)), (3000, (b"d",))):
        broker.ask(produce_request("orders", batch_of(*values, timestamp_ms=timestamp_ms)), 12)
    return broker


def ask(broker: Broker, *timestamps: int, version: int = 11, isolation_level: int = 0, **partition: int):  # type: ignore[no-untyped-def]
    wanted = [ListOffsetsPartition(timestamp=timestamp, **partition) for timestamp in timestamps]
    request = ListOffsetsRequest(isolation_level=isolation_level, topics=[ListOffsetsTopic("orders", wanted)])
    return broker.ask(request, version).topics[0].partitions


def find(broker: Broker, timestamp: int, **more: int) -> tuple[int, int]:
    (found,) = ask(broker, timestamp, **more)
    assert found.error_code == ErrorCode.NONE
    return found.timestamp, found.offset


def delete_up_to(broker: Broker, offset: int) -> None:
    topic = DeleteRecordsTopic("orders", [DeleteRecordsPartition(0, offset)])
    assert broker.ask(DeleteRecordsRequest([topic])).topics[0].partitions[0].error_code == ErrorCode.NONE


@pytest.mark.parametrize("version", versions_of("ListOffsets"))
def test_earliest_and_latest_are_known_in_every_version(filled: Broker, version: int) -> None:
    assert find(filled, EARLIEST, version=version) == (-1, 0)
    assert find(filled, LATEST, version=version) == (-1, 4)


@pytest.mark.parametrize(
    ("timestamp", "found"),
    [(0, (1000, 0)), (1000, (1000, 0)), (1001, (5000, 2)), (5000, (5000, 2)), (5001, (-1, -1))],
)
def test_a_time_leads_to_the_first_record_that_is_not_older(
    filled: Broker, timestamp: int, found: tuple[int, int]
) -> None:
    assert find(filled, timestamp) == found


def test_the_largest_timestamp_is_found_wherever_it_is(filled: Broker) -> None:
    assert find(filled, MAX_TIMESTAMP) == (5000, 2)


def test_nothing_is_tiered_and_everything_is_local(filled: Broker) -> None:
    assert find(filled, LATEST_TIERED) == (-1, -1)
    assert find(filled, EARLIEST_PENDING_UPLOAD) == (-1, -1)
    assert find(filled, EARLIEST_LOCAL) == (-1, 0)


@pytest.mark.parametrize(
    ("timestamp", "since"),
    [(MAX_TIMESTAMP, 7), (EARLIEST_LOCAL, 8), (LATEST_TIERED, 9), (EARLIEST_PENDING_UPLOAD, 11), (-7, 12)],
)
@pytest.mark.parametrize("version", versions_of("ListOffsets"))
def test_a_special_timestamp_is_refused_before_its_version(
    filled: Broker, timestamp: int, since: int, version: int
) -> None:
    (answer,) = ask(filled, timestamp, version=version)
    assert answer.error_code == (ErrorCode.NONE if version >= since else ErrorCode.UNSUPPORTED_VERSION)


def test_deleted_records_are_not_found_by_time(filled: Broker) -> None:
    delete_up_to(filled, 1)
    assert find(filled, 0) == (1000, 1)
    delete_up_to(filled, 3)
    assert find(filled, EARLIEST) == (-1, 3)
    assert find(filled, 0) == (3000, 3)
    assert find(filled, 3001) == (-1, -1)
    assert find(filled, MAX_TIMESTAMP) == (3000, 3)


def test_the_late_half_of_a_cut_batch_does_not_hide_what_comes_after(broker: Broker) -> None:
    broker.create_topic("orders")
    batch = build_batch([Record(timestamp_ms=9000, value=b"late"), Record(timestamp_ms=1000, value=b"early")])
    broker.ask(produce_request("orders", batch), 12)
    broker.ask(produce_request("orders", batch_of(b"next", timestamp_ms=8000)), 12)
    delete_up_to(broker, 1)
    assert find(broker, 5000) == (8000, 2)
    assert find(broker, MAX_TIMESTAMP) == (8000, 2)


def test_an_empty_log_has_no_record_of_any_time(broker: Broker) -> None:
    broker.create_topic("orders")
    assert find(broker, 0) == (-1, -1)
    assert find(broker, MAX_TIMESTAMP) == (-1, -1)
    assert find(broker, LATEST) == (-1, 0)


def test_readers_of_committed_records_see_the_log_end_where_a_transaction_began(filled: Broker) -> None:
    identity = filled.init_producer("shop")
    filled.produce_in_transaction("orders", b"x", identity=identity, transactional_id="shop")
    assert find(filled, LATEST, isolation_level=1) == (-1, 4)
    assert find(filled, LATEST) == (-1, 5)
    assert find(filled, filled.now.wall_ms, isolation_level=1) == (-1, -1)
    assert find(filled, filled.now.wall_ms) == (filled.now.wall_ms, 4)


def test_the_latest_offset_does_not_wait_for_the_disk_but_shows_only_what_is_on_it(filled: Broker) -> None:
    filled.send(produce_request("orders", batch_of(b"x")), 12)
    request = ListOffsetsRequest(topics=[ListOffsetsTopic("orders", [ListOffsetsPartition(timestamp=LATEST)])])
    assert filled.send(request, 11).reply.topics[0].partitions[0].offset == 4


@pytest.mark.parametrize(
    ("more", "error_code"),
    [
        ({"partition_index": 9}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"current_leader_epoch": 9}, ErrorCode.UNKNOWN_LEADER_EPOCH),
        ({"isolation_level": 9}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(filled: Broker, more: dict[str, int], error_code: ErrorCode) -> None:
    assert [answer.error_code for answer in ask(filled, LATEST, **more)] == [error_code]


def test_a_partition_that_is_asked_about_twice_is_refused(filled: Broker) -> None:
    assert [answer.error_code for answer in ask(filled, LATEST, EARLIEST)] == [ErrorCode.INVALID_REQUEST] * 2


def test_times_are_found_in_every_segment_behind_the_logs_start(broker: Broker) -> None:
    broker.create_topic("orders")
    for offset, timestamp_ms in enumerate((7000, 1000, 9000, 2000, 6000, 3000)):
        batch = batch_of(bytes([offset]) * 400_000, timestamp_ms=timestamp_ms)
        broker.ask(produce_request("orders", batch), 12)
    for start_offset, by_time, largest in (
        (0, (7000, 0), (9000, 2)),
        (1, (9000, 2), (9000, 2)),
        (3, (6000, 4), (6000, 4)),
        (5, (-1, -1), (3000, 5)),
    ):
        delete_up_to(broker, start_offset)
        assert (find(broker, 5000), find(broker, MAX_TIMESTAMP)) == (by_time, largest)
