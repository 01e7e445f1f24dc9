"""Faults on the way of a batch: lost answers, resends, restarts, what no client may send."""

from typing import Any

import pytest

from fencepost.errors import CorruptLog, ErrorCode
from fencepost.journal.dump import dump_frames
from fencepost.journal.segment_header import segment_name
from fencepost.lab.simulated_disk import SimulatedDisk
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.types import TopicPartition
from tests.scenarios.conftest import OpenShop
from tests.scenarios.shop import TOPIC, Producer, Shop
from tests.unit.broker.builders import Broker, batch_of, produce_request

SEQUENCE_MAX = 2**31 - 1
OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def plain(shop: Shop, *values: bytes, sequence: int, producer_id: int = 900) -> Any:
    """A batch of an idempotent producer that has no transactional id."""
    return shop.broker.produce(TOPIC, *values, producer_id=producer_id, producer_epoch=0, base_sequence=sequence)


def resent(producer: Producer, sequences: range) -> list[tuple[int, int]]:
    answers = [producer.write(b"x", sequence=sequence) for sequence in sequences]
    return [(answer.error_code, answer.base_offset) for answer in answers]


def test_a_resent_batch_gets_its_old_offset_and_is_stored_once(shop: Shop, flow: int) -> None:
    """Scenario 1."""
    producer = shop.producer(flow=flow)
    first = producer.send(b"a", b"b")
    again = producer.write(b"a", b"b", sequence=0)
    assert (again.error_code, again.base_offset) == (ErrorCode.NONE, first.base_offset)
    producer.commit()
    assert shop.committed() == [b"a", b"b"]


def test_a_resent_batch_is_answered_with_the_time_at_which_it_was_appended(shop: Shop) -> None:
    """Scenario 1, where the broker's clock stamps records: the answer that got lost said this time."""
    shop.broker.create_topic("stamped", message_timestamp_type="LogAppendTime")
    batch = {"producer_id": 900, "producer_epoch": 0, "base_sequence": 0}
    first = shop.broker.produce("stamped", b"a", **batch)
    shop.broker.sleep(1_000)
    again = shop.broker.produce("stamped", b"a", **batch)
    assert again.log_append_time_ms == first.log_append_time_ms == shop.broker.now.wall_ms - 1_000


def test_five_batches_in_flight_are_all_recognised_and_an_older_one_is_out_of_order(shop: Shop, flow: int) -> None:
    """Scenario 2. All six are in flight at once: none is synced when the next one comes."""
    producer = shop.producer(flow=flow)
    if flow == 1:
        producer.add(0)
    for sequence in range(6):
        producer.start_writing(b"x", sequence=sequence)
    assert resent(producer, range(1, 6)) == [(0, offset) for offset in range(1, 6)]
    assert producer.write(b"x", sequence=0).error_code == OUT_OF_ORDER
    producer.commit()
    assert shop.committed() == [b"x"] * 6


@pytest.mark.parametrize("is_killed", [False, True], ids=["stopped", "killed"])
def test_all_five_are_recognised_after_a_restart(shop: Shop, flow: int, is_killed: bool) -> None:
    """Scenarios 3 and 4. Kafka's snapshot keeps one of the five; the checkpoint here keeps all of them."""
    producer = shop.producer(flow=flow)
    for _ in range(7):
        producer.send(b"x")
    shop.kill() if is_killed else shop.restart()
    assert resent(producer, range(2, 7)) == [(0, offset) for offset in range(2, 7)]
    assert producer.write(b"x", sequence=1).error_code == OUT_OF_ORDER
    producer.send(b"next")
    producer.commit()
    assert shop.committed() == [b"x"] * 7 + [b"next"]


def test_the_five_are_recognised_when_a_checkpoint_lies_between_them(shop: Shop) -> None:
    """Scenario 4: replay goes on from the checkpoint."""
    producer = shop.producer()
    for _ in range(3):
        producer.send(b"x")
    shop.restart()
    for _ in range(3):
        producer.send(b"x")
    shop.kill()
    assert resent(producer, range(1, 6)) == [(0, offset) for offset in range(1, 6)]


def test_a_batch_does_not_overtake_the_one_before_it(shop: Shop) -> None:
    """Scenario 5. The coordinator here refuses nothing for a moment, so the first batch is late for another reason: it
    comes on a slower connection."""
    producer = shop.producer()
    assert producer.write(b"second", sequence=1, connection=2).error_code == OUT_OF_ORDER
    producer.send(b"first")
    producer.send(b"second")
    producer.commit()
    assert shop.committed() == [b"first", b"second"]


def test_sequences_wrap_within_a_batch_and_the_batch_is_recognised(shop: Shop) -> None:
    """Scenario 6."""
    four = [b"a", b"b", b"c", b"d"]
    assert plain(shop, *four, sequence=SEQUENCE_MAX - 1).base_offset == 0
    assert plain(shop, b"e", sequence=2).base_offset == 4
    for _ in range(2):
        again = plain(shop, *four, sequence=SEQUENCE_MAX - 1)
        assert (again.error_code, again.base_offset) == (ErrorCode.NONE, 0)
        shop.kill()
    assert shop.committed() == [*four, b"e"]


def test_after_its_state_expired_a_producer_may_start_anywhere_unless_its_transactions_have_their_own_epochs(
    open_shop: OpenShop,
) -> None:
    """Scenario 7."""
    shop = open_shop(producer_id_expiration_ms="60000", producer_id_expiration_check_interval_ms="1000")

    def expire() -> None:
        shop.broker.sleep(1_000)
        shop.broker.sleep(61_000)
        assert shop.broker.core.state.logs[TopicPartition(TOPIC, 0)].state.producers == {}

    plain(shop, b"a", sequence=0)
    expire()
    assert plain(shop, b"b", sequence=12).error_code == ErrorCode.NONE
    classic = shop.producer("classic", flow=1, timeout_ms=900_000)
    classic.send(b"c")
    classic.commit()
    expire()
    classic.add(0)
    assert classic.write(b"d", sequence=40).error_code == ErrorCode.NONE
    classic.commit()
    expire()
    bumping = shop.producer("bumping", timeout_ms=900_000)
    assert bumping.write(b"e", sequence=41).error_code == OUT_OF_ORDER
    assert shop.committed() == [b"a", b"b", b"c", b"d"]
    shop.forgotten_producer_ids |= {900, classic.identity.producer_id}


def test_a_plain_batch_within_the_producers_own_transaction_is_refused(shop: Shop, flow: int) -> None:
    """Scenario 8."""
    producer = shop.producer(flow=flow)
    producer.send(b"a")
    refused = plain(shop, b"b", sequence=1, producer_id=producer.identity.producer_id)
    assert refused.error_code == ErrorCode.INVALID_TXN_STATE
    assert shop.written() == [b"a"]
    producer.send(b"b")
    producer.commit()
    assert shop.committed() == [b"a", b"b"]


@pytest.mark.parametrize(
    "records",
    [
        build_batch([Record(value=b"x")], producer_id=900, producer_epoch=0, is_control=True, is_transactional=True),
        build_batch([Record(value=b"x")], producer_id=900, producer_epoch=0, base_sequence=-1),
        batch_of(b"x", producer_id=900, producer_epoch=0, base_sequence=0)
        + batch_of(b"y", producer_id=900, producer_epoch=0, base_sequence=1),
        build_batch([Record(value=b"x")], producer_id=900, producer_epoch=0, base_sequence=0, base_offset=5),
    ],
    ids=["control batch", "base sequence -1", "two batches", "base offset 5"],
)
def test_what_no_client_may_send_is_an_invalid_record_and_is_not_stored(shop: Shop, records: bytes) -> None:
    """Scenario 9."""
    request = produce_request(TOPIC, records, transactional_id="shop")
    (answer,) = shop.broker.ask(request, 12).responses[0].partition_responses
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert shop.written() == []


def flip_bit_in(disk: SimulatedDisk, value: bytes) -> None:
    """In the payload of the frame that holds this value."""
    for segment, frame in dump_frames(disk):
        if (at := bytes(frame.payload).find(value)) >= 0:
            place = frame.end_place - len(frame.payload) + at
            disk.flip_bit(segment_name(segment.first_position), position=place, bit=0)
            return
    raise AssertionError(f"{value!r} is not on the disk")


def test_a_flipped_bit_in_synced_data_stops_the_next_start_and_is_named(shop: Shop) -> None:
    """Scenario 10. Kafka cuts the log there; with one copy that would lose acknowledged records, so nobody decides it
    but the operator."""
    producer = shop.producer()
    producer.send(b"damaged")
    producer.send(b"behind it")
    producer.commit()
    damaged = shop.broker.disk.snapshot()
    flip_bit_in(damaged, b"damaged")
    with pytest.raises(CorruptLog, match="salvage"):
        Broker(disk=damaged)


def test_a_flipped_bit_in_a_sealed_segment_is_never_served_and_other_partitions_are(shop: Shop) -> None:
    """Scenario 10 after a clean stop: the start reads the checkpoint alone, the damage shows when somebody reads it."""
    producer = shop.producer()
    producer.send(b"damaged")
    producer.send(b"whole", partition=1)
    producer.commit()
    shop.restart()
    damaged = shop.broker.disk.snapshot()
    flip_bit_in(damaged, b"damaged")
    broker = Broker(disk=damaged)
    assert broker.fetch(TOPIC, 0).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert b"whole" in broker.values(TOPIC, 1)


def test_a_flipped_bit_in_the_last_group_is_a_torn_tail_and_leaves_no_open_transaction(shop: Shop) -> None:
    """Scenario 10, where nothing tells it from a write that the crash tore: cut there, state as if it never came."""
    producer = shop.producer()
    producer.send(b"kept")
    producer.commit()
    producer.send(b"torn")
    flip_bit_in(shop.broker.disk, b"torn")
    shop.kill()
    assert shop.committed() == [b"kept"]
    assert shop.last_stable_offset() == shop.high_watermark() == 2
    assert producer.write(b"again", sequence=0).base_offset == 2
    producer.commit()
    assert shop.committed() == [b"kept", b"again"]


def test_a_producer_that_sends_old_events_is_not_forgotten_while_it_is_awake(shop: Shop) -> None:
    """Scenario 7: what counts is when the broker last heard of it, not what its records say. Kafka goes by the records'
    timestamps, and forgets whoever replays the events of the day before yesterday at the next sweep."""
    two_days_ago_ms = shop.broker.now.wall_ms - 2 * 86_400_000
    batch = batch_of(b"a", timestamp_ms=two_days_ago_ms, producer_id=900, producer_epoch=0, base_sequence=0)
    for _ in range(3):
        (answer,) = shop.broker.ask(produce_request(TOPIC, batch), 12).responses[0].partition_responses
        assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 0)
        shop.broker.sleep(600_000)
    assert shop.committed() == [b"a"]
