"""The broker dies somewhere in the life of a transaction; what the next one finds, and what clients are told then."""

from contextlib import suppress

import pytest

from fencepost.broker.catalogue import OFFSETS_TOPIC
from fencepost.errors import ErrorCode
from fencepost.lab.simulated_disk import EXTREMES, CrashModel, SimulatedCrash, SimulatedDisk
from fencepost.types import ProducerIdentity, TopicPartition
from fencepost.wire.messages.end_txn import EndTxnRequest
from tests.scenarios.shop import END_VERSION, TOPIC, Producer, Shop

PREPARE, MARKERS, COMPLETE = 1, 3, 1


def with_offsets(shop: Shop, flow: int) -> Producer:
    """An open transaction with records on two partitions and an offset of the group."""
    producer = shop.producer(flow=flow)
    producer.send(b"a")
    producer.send(b"b", partition=1)
    assert producer.send_offset(7) == ErrorCode.NONE
    return producer


def end_without_answer(shop: Shop, producer: Producer, *, committed: bool = True) -> int:
    """EndTxn is on the disk and nobody was told. The journal's position before it."""
    before = shop.last_position
    sent = shop.broker.send(EndTxnRequest("shop", *producer.identity, committed), END_VERSION[producer.flow])
    shop.write_without_answering()
    assert sent.reply is None
    assert shop.last_position == before + PREPARE + MARKERS + COMPLETE
    return before


def next_identity(producer: Producer) -> ProducerIdentity:
    """What EndTxn answers: the next epoch, or nothing in the classic flow."""
    producer_id, producer_epoch = producer.identity
    return ProducerIdentity(producer_id, producer_epoch + 1) if producer.flow == 2 else ProducerIdentity(-1, -1)


def test_a_transaction_without_data_times_out_after_a_crash_and_leaves_no_trace_for_readers(shop: Shop) -> None:
    """Scenario 11."""
    producer = shop.producer(flow=1)
    producer.add(0, 1)
    shop.kill()
    assert shop.state() == "Ongoing"
    shop.broker.produce(TOPIC, b"other")
    assert shop.last_stable_offset() == 1
    shop.time_out()
    assert shop.state() == "CompleteAbort"
    assert shop.markers(0) == shop.markers(1) == [False]
    assert shop.broker.fetch(TOPIC, 0, isolation_level=1).aborted_transactions == []
    assert shop.last_stable_offset() == shop.high_watermark() == 2
    assert shop.committed() == [b"other"]


def test_an_open_transaction_survives_a_crash_and_can_be_committed(shop: Shop, flow: int) -> None:
    """Scenario 12."""
    producer = with_offsets(shop, flow)
    shop.kill()
    assert (shop.state(), shop.last_stable_offset()) == ("Ongoing", 0)
    assert producer.commit().error_code == ErrorCode.NONE
    assert (shop.committed(0), shop.committed(1), shop.offset()) == ([b"a"], [b"b"], (0, 7))


def test_an_open_transaction_that_nobody_ends_after_a_crash_is_aborted_by_the_sweep(shop: Shop, flow: int) -> None:
    """Scenario 12. It has its whole timeout again from the restart on; in Kafka the time before counts too."""
    with_offsets(shop, flow)
    shop.broker.sleep(50_000)
    shop.kill()
    shop.broker.sleep(20_000)
    shop.broker.sleep(40_000)
    assert shop.state() == "Ongoing"
    shop.broker.sleep(30_000)
    assert shop.state() == "CompleteAbort"
    assert (shop.committed(0), shop.committed(1), shop.offset()) == ([], [], (0, -1))


@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
@pytest.mark.parametrize(
    "kept",
    range(PREPARE, PREPARE + MARKERS + COMPLETE + 1),
    ids=["PREPARE", "one marker", "two markers", "all markers", "COMPLETE"],
)
def test_a_crash_after_prepare_rolls_forward_and_the_repeated_end_is_confirmed(
    shop: Shop, flow: int, kept: int, committed: bool
) -> None:
    """Scenarios 13, 14 and 15, with the rest of the commit group lost. Recovery is done before the first request is
    taken, so nobody is told 51 in between."""
    producer = with_offsets(shop, flow)
    before = end_without_answer(shop, producer, committed=committed)
    if kept == PREPARE + MARKERS + COMPLETE:
        shop.kill()
    else:
        shop.kill_losing(before + kept + 1)
    assert shop.state() == ("CompleteCommit" if committed else "CompleteAbort")
    expected = ([b"a"], [b"b"], (0, 7)) if committed else ([], [], (0, -1))
    assert (shop.committed(0), shop.committed(1), shop.offset()) == expected
    identity = next_identity(producer)
    reply = producer.end(committed=committed)
    assert (reply.error_code, reply.producer_id, reply.producer_epoch) == (ErrorCode.NONE, *identity)
    producer.send(b"next")
    producer.commit()
    assert shop.committed(0) == [*expected[0], b"next"]


def test_markers_are_written_again_where_nobody_knows_which_of_them_made_it(shop: Shop, flow: int) -> None:
    """Scenario 14: a partition that has its marker accepts another one, and its readers see no difference."""
    producer = with_offsets(shop, flow)
    before = end_without_answer(shop, producer)
    shop.kill_losing(before + PREPARE + MARKERS)
    offsets_partition = shop.broker.core.groups.topic_partition_of("billing").partition
    assert shop.markers(offsets_partition, OFFSETS_TOPIC) == [True, True]
    assert (shop.markers(0), shop.markers(1)) == ([True, True], [True])
    assert (shop.committed(0), shop.committed(1)) == ([b"a"], [b"b"])


@pytest.mark.parametrize("model", CrashModel)
def test_a_crash_within_the_roll_forward_is_rolled_forward_again(shop: Shop, flow: int, model: CrashModel) -> None:
    """Scenario 14, twice over: recovery itself is cut at each of its disk operations."""
    producer = with_offsets(shop, flow)
    before = end_without_answer(shop, producer)
    found = shop.disk_losing(before + PREPARE + 2)
    shop.kill_losing(before + PREPARE + 2)
    for operation_count in range(shop.broker.disk.operation_count + 1):
        cut = found.snapshot()
        cut.crash_after(operation_count)
        with suppress(SimulatedCrash):
            Shop(disk=cut)
        for seed in range(len(EXTREMES)):
            again = Shop(disk=cut.after_crash(model, seed))
            assert check_all_or_nothing(again, committed=True, is_told=True) == "CompleteCommit"
            again.check()


@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
def test_a_torn_prepare_leaves_the_transaction_open_without_any_marker(shop: Shop, flow: int, committed: bool) -> None:
    """Scenario 16."""
    producer = with_offsets(shop, flow)
    before = end_without_answer(shop, producer, committed=committed)
    shop.kill_losing(before + PREPARE)
    assert shop.state() == "Ongoing"
    assert shop.markers(0) == shop.markers(1) == []
    assert (shop.committed(0), shop.offset()) == ([], (ErrorCode.UNSTABLE_OFFSET_COMMIT, -1))
    assert producer.end(committed=committed).error_code == ErrorCode.NONE
    assert shop.committed(1) == ([b"b"] if committed else [])


def test_offsets_of_a_decided_transaction_are_committed_by_recovery(shop: Shop, flow: int) -> None:
    """Scenario 40. Until the marker is synced they are unstable; nobody can ask before that here."""
    producer = with_offsets(shop, flow)
    before = end_without_answer(shop, producer)
    shop.kill_losing(before + PREPARE + 1)
    assert shop.offset() == shop.offset(require_stable=False) == (ErrorCode.NONE, 7)


@pytest.mark.parametrize("model", CrashModel)
@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
def test_a_power_cut_at_any_disk_operation_of_an_end_leaves_all_of_it_or_nothing(
    flow: int, committed: bool, model: CrashModel
) -> None:
    """Scenario 53: two partitions and the offsets of a group, cut at each operation and drawn many times."""
    whole = Shop()
    producer = with_offsets(whole, flow)
    begin = whole.broker.disk.operation_count
    producer.end(committed=committed)
    outcomes = set()
    for operation_count in range(begin, whole.broker.disk.operation_count + 1):
        disk = SimulatedDisk()
        disk.crash_after(operation_count)
        cut = Shop(disk=disk)
        producer = with_offsets(cut, flow)
        is_told = True
        try:
            producer.end(committed=committed)
        except SimulatedCrash:
            is_told = False
        for seed in range(3 * len(EXTREMES) // 2):
            found = Shop(disk=disk.after_crash(model, seed))
            found.commits_told, found.identities_told = cut.commits_told, cut.identities_told
            outcomes.add(check_all_or_nothing(found, committed=committed, is_told=is_told))
            found.check()
    assert outcomes == {"Ongoing", "CompleteCommit" if committed else "CompleteAbort"}


def check_all_or_nothing(shop: Shop, *, committed: bool, is_told: bool) -> str:
    state = shop.state()
    seen = shop.committed(0), shop.committed(1), shop.offset()
    if state == "Ongoing":
        assert not is_told
        assert seen == ([], [], (ErrorCode.UNSTABLE_OFFSET_COMMIT, -1))
        assert shop.last_stable_offset(0) == shop.last_stable_offset(1) == 0
    else:
        assert seen == (([b"a"], [b"b"], (0, 7)) if committed else ([], [], (0, -1)))
        logs = shop.broker.core.state.logs
        assert not any(logs[TopicPartition(TOPIC, each)].state.transactions.ongoing for each in (0, 1))
    return state
