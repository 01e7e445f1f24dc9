"""A disk that is full or fails to sync in the middle of a commit, and how often it is asked to."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.journal.disk import SyncFailed
from fencepost.lab.simulated_disk import EXTREMES, CrashModel, SimulatedFile
from fencepost.wire.messages.end_txn import EndTxnRequest
from tests.scenarios.conftest import OpenShop
from tests.scenarios.shop import END_VERSION, TOPIC, Producer, Shop, produced

FILLING = b"x" * 3_000


@pytest.fixture
def full(open_shop: OpenShop) -> Shop:
    """A shop whose disk has no room for another segment."""
    return open_shop(log_segment_bytes="8192")


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of each file that was synced, in order."""
    synced: list[str] = []
    datasync = SimulatedFile.datasync

    def counting(file: SimulatedFile) -> None:
        synced.append(file.name)
        datasync(file)

    monkeypatch.setattr(SimulatedFile, "datasync", counting)
    return synced


def fill(shop: Shop) -> None:
    """Write until the disk refuses. What was prepared ahead is used up."""
    shop.broker.disk.capacity_bytes = 0
    for _ in range(20):
        if shop.broker.produce(TOPIC, FILLING, partition=2).error_code == ErrorCode.KAFKA_STORAGE_ERROR:
            break
    for size in (500, 200, 100, 60, 30, 10, 1):
        while shop.broker.produce(TOPIC, b"x" * size, partition=2).error_code == ErrorCode.NONE:
            pass


def opened(shop: Shop, flow: int) -> Producer:
    producer = shop.producer(flow=flow)
    producer.send(b"a")
    producer.send(b"b", partition=1)
    return producer


@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
def test_an_end_that_finds_no_room_is_retriable_and_decides_nothing(full: Shop, flow: int, committed: bool) -> None:
    """Scenario 48: room for all of PREPARE, markers and COMPLETE is made sure of before the first of them."""
    producer = opened(full, flow)
    fill(full)
    assert producer.end(committed=committed).error_code == ErrorCode.NOT_COORDINATOR
    assert (full.state(), full.markers(0), full.markers(1)) == ("Ongoing", [], [])
    full.broker.disk.capacity_bytes = None
    assert producer.end(committed=committed).error_code == ErrorCode.NONE
    assert full.committed() == ([b"a"] if committed else [])


def test_every_request_of_a_transaction_is_retriable_while_the_disk_is_full(full: Shop, flow: int) -> None:
    """Scenario 48, before the end: nothing is half done, and all of it works once there is room."""
    producer = opened(full, flow)
    other = full.producer("other", flow=flow)
    fill(full)
    assert full.init("newcomer").error_code == ErrorCode.NOT_COORDINATOR
    assert full.init("other").error_code == ErrorCode.NOT_COORDINATOR
    assert full.init(None).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert full.add(other.identity, 0, transactional_id="other") == ErrorCode.NOT_COORDINATOR
    assert producer.write(b"c", sequence=1).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    if flow == 2:
        assert other.write(b"d", sequence=0).error_code == ErrorCode.NOT_ENOUGH_REPLICAS
        assert other.send_offset(7) == ErrorCode.NOT_COORDINATOR
    full.broker.disk.capacity_bytes = None
    assert full.init("newcomer").error_code == ErrorCode.NONE
    producer.send(b"c")
    producer.commit()
    other.send(b"d")
    other.commit()
    assert full.committed() == [b"a", b"c", b"d"]


def test_the_timeout_of_a_transaction_waits_for_room(full: Shop, flow: int) -> None:
    """Scenario 48, for the coordinator's own abort: a full disk must not stop the broker."""
    opened(full, flow)
    fill(full)
    full.time_out()
    assert (full.state(), full.markers()) == ("Ongoing", [])
    full.broker.disk.capacity_bytes = None
    full.broker.sleep(10_000)
    assert (full.state(), full.markers()) == ("CompleteAbort", [False])


@pytest.mark.parametrize("model", CrashModel)
@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
def test_an_end_whose_sync_fails_is_not_answered_and_stops_the_broker(
    flow: int, committed: bool, model: CrashModel
) -> None:
    """Scenario 48. After the restart the transaction is open or decided, whatever the disk kept; never both."""
    for seed in range(len(EXTREMES)):
        shop = Shop()
        producer = opened(shop, flow)
        sent = shop.broker.send(EndTxnRequest("shop", *producer.identity, committed), END_VERSION[flow])
        shop.broker.disk.fail_next_sync()
        for _ in range(2):
            with pytest.raises(SyncFailed):
                shop.broker.commit()
        assert sent.reply is None
        found = Shop(disk=shop.broker.disk.after_crash(model, seed))
        assert found.state() in ("Ongoing", "CompleteCommit" if committed else "CompleteAbort")
        assert found.markers(0) in ([], [committed], [committed, committed])
        if found.state() == "Ongoing":
            assert found.markers(0) == found.markers(1) == []
        found.end(producer.identity, committed=committed, version=END_VERSION[flow])
        assert found.committed(0) == ([b"a"] if committed else [])
        found.check()


def test_prepare_markers_and_complete_are_one_commit_group_and_one_sync(
    shop: Shop, flow: int, syncs: list[str]
) -> None:
    producer = opened(shop, flow)
    producer.send_offset(7)
    syncs.clear()
    before = shop.last_position
    producer.commit()
    assert shop.last_position == before + 5
    assert len(syncs) == 1


def test_ends_of_several_producers_that_arrive_together_share_one_sync(shop: Shop, flow: int, syncs: list[str]) -> None:
    producers = [shop.producer(f"id-{number}", flow=flow) for number in range(8)]
    for producer in producers:
        producer.send(b"a")
    syncs.clear()
    sent = [
        shop.broker.send(EndTxnRequest(each.transactional_id, *each.identity, committed=True), END_VERSION[flow])
        for each in producers
    ]
    shop.broker.commit()
    assert [shop.ended(each).error_code for each in sent] == [ErrorCode.NONE] * 8
    assert len(syncs) == 1
    assert shop.committed() == [b"a"] * 8


def test_a_batch_and_its_join_are_one_sync(shop: Shop, syncs: list[str]) -> None:
    producer = shop.producer()
    syncs.clear()
    sent = producer.start_writing(b"a")
    shop.broker.commit()
    assert (produced(sent).error_code, len(syncs)) == (ErrorCode.NONE, 1)
