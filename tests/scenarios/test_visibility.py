"""What readers see of open, committed and aborted transactions, and of topics that lose records or go away."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.journal.dump import dump_frames
from fencepost.journal.frames import FrameKind
from fencepost.journal.segment_header import segment_name
from fencepost.types import TopicPartition
from fencepost.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from tests.scenarios.conftest import OpenShop
from tests.scenarios.reader import consume
from tests.scenarios.shop import TOPIC, Shop

LATEST = -1


def latest_offset(shop: Shop, isolation_level: int) -> int:
    topic = ListOffsetsTopic(TOPIC, [ListOffsetsPartition(0, timestamp=LATEST)])
    request = ListOffsetsRequest(isolation_level=isolation_level, topics=[topic])
    return int(shop.broker.ask(request, 7).topics[0].partitions[0].offset)


def test_a_topic_that_is_deleted_before_the_commit_is_passed_over(shop: Shop, flow: int) -> None:
    """Scenario 32."""
    shop.broker.create_topic("gone")
    producer = shop.producer(flow=flow)
    producer.send(b"a")
    shop.broker.produce_in_transaction("gone", b"b", identity=producer.identity, transactional_id="shop", version=12)
    deletion = DeleteTopicsRequest(topics=[DeleteTopicState("gone")], timeout_ms=1000)
    assert shop.broker.ask(deletion).responses[0].error_code == ErrorCode.NONE
    assert producer.commit().error_code == ErrorCode.NONE
    assert (shop.state(), shop.committed()) == ("CompleteCommit", [b"a"])
    shop.kill()
    assert (shop.state(), shop.committed()) == ("CompleteCommit", [b"a"])


def test_an_open_transaction_holds_read_committed_at_its_first_offset_and_nobody_else(shop: Shop, flow: int) -> None:
    """Scenario 33."""
    shop.broker.produce(TOPIC, *[b"plain"] * 10)
    slow, quick = shop.producer("slow", flow=flow), shop.producer("quick", flow=flow)
    slow.send(b"slow")
    quick.send(*[b"quick"] * 37)
    quick.commit()
    shop.broker.produce(TOPIC, b"after")
    for _ in range(2):
        assert (latest_offset(shop, 1), latest_offset(shop, 0)) == (10, 50)
        assert (shop.last_stable_offset(), shop.high_watermark()) == (10, 50)
        assert shop.committed() == [b"plain"] * 10
        shop.kill()
    slow.commit()
    assert shop.committed() == [b"plain"] * 10 + [b"slow"] + [b"quick"] * 37 + [b"after"]


def interleave(shop: Shop, rounds: int = 4) -> list[bytes]:
    """Transactions of three producers that overlap, some committed, some aborted; the values to be read, in order."""
    committed: dict[int, bytes] = {}
    producers = [shop.producer(f"id-{number}", flow=1 + number % 2) for number in range(3)]
    outcomes = [(False, True, False), (True, False, False), (False, False, True), (True, True, False)]
    for number in range(rounds):
        sent: list[dict[int, bytes]] = [{}, {}, {}]
        for part in range(2):
            for index, producer in enumerate(producers):
                value = f"{number}-{index}-{part}-{'x' * 300}".encode()
                sent[index][producer.send(value).base_offset] = value
        for index, producer in enumerate(producers):
            is_commit = outcomes[number % len(outcomes)][index]
            committed |= sent[index] if is_commit else {}
            producer.end(committed=is_commit)
        plain = f"plain-{number}".encode()
        committed[shop.broker.produce(TOPIC, plain).base_offset] = plain
    return [committed[offset] for offset in sorted(committed)]


def journal_segments(shop: Shop) -> list[str]:
    return [name for name in shop.broker.disk.list_names() if name.endswith(".journal")]


def read_from_everywhere(shop: Shop, expected: list[bytes]) -> None:
    """Small fetches and large ones; which offsets must come is checked by the invariants."""
    for fetch_bytes in (1, 700, 1 << 20):
        records = consume(shop.broker, TopicPartition(TOPIC, 0), 0, fetch_bytes)
        assert [record.value for record in records] == expected


def test_interleaved_transactions_over_several_segments_are_read_from_any_offset_with_any_fetch_size(
    open_shop: OpenShop,
) -> None:
    """Scenario 34."""
    shop = open_shop(log_segment_bytes="8192")
    expected = interleave(shop)
    assert len(journal_segments(shop)) >= 3
    read_from_everywhere(shop, expected)
    shop.kill()
    read_from_everywhere(shop, expected)


@pytest.mark.parametrize("fault", ["deleted", "truncated"])
def test_indexes_that_are_lost_or_cut_are_rebuilt_and_readers_see_the_same(open_shop: OpenShop, fault: str) -> None:
    """Scenario 35. There is no index of aborted transactions on the disk: it is part of the state. The files that can
    be lost are the journal's indexes."""
    shop = open_shop(log_segment_bytes="8192")
    expected = interleave(shop)
    indexes = [name for name in shop.broker.disk.list_names() if name.endswith(".index")]
    assert indexes
    for name in indexes:
        if fault == "deleted":
            shop.broker.disk.delete(name)
        else:
            with_file = shop.broker.disk.open(name, writable=True)
            with_file.truncate(with_file.size_bytes() // 2)
            with_file.close()
    shop.kill()
    read_from_everywhere(shop, expected)


def test_a_bad_newest_checkpoint_means_a_longer_replay_and_readers_see_the_same(open_shop: OpenShop) -> None:
    """Scenario 35, for the place where the list of aborted transactions is kept."""
    shop = open_shop(log_segment_bytes="8192")
    expected = interleave(shop)
    shop.restart()
    *_, (segment, frame) = [
        dumped for dumped in dump_frames(shop.broker.disk) if dumped.frame.kind == FrameKind.CHECKPOINT
    ]
    name = segment_name(segment.first_position)
    shop.broker.disk.flip_bit(name, position=frame.end_place - 1, bit=3)
    shop.kill()
    read_from_everywhere(shop, expected)


@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
def test_records_deleted_past_the_start_of_an_open_transaction_do_not_hinder_its_end(
    shop: Shop, flow: int, committed: bool
) -> None:
    """Scenario 36."""
    producer = shop.producer(flow=flow)
    producer.send(*[b"a"] * 4)
    shop.broker.produce(TOPIC, *[b"plain"] * 4)
    topic = DeleteRecordsTopic(TOPIC, [DeleteRecordsPartition(0, 6)])
    (deleted,) = shop.broker.ask(DeleteRecordsRequest([topic], timeout_ms=1000)).topics[0].partitions
    assert (deleted.error_code, deleted.low_watermark) == (ErrorCode.NONE, 6)
    for _ in range(2):
        seen = shop.broker.fetch(TOPIC, 0, offset=6, isolation_level=1)
        assert (seen.log_start_offset, seen.last_stable_offset) == (6, 6)
        shop.kill()
    assert producer.end(committed=committed).error_code == ErrorCode.NONE
    assert shop.committed() == [b"plain"] * 2
    assert shop.broker.fetch(TOPIC, 0, offset=6, isolation_level=1).last_stable_offset == 9
