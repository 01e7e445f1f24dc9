"""Several writers on connections of their own share one (producer id, epoch): a driver begins and ends, they write.

Nothing is ever pending at the coordinator: an add is in the journal when its request was handled, so a writer that
races with another one's add meets it before or after, never in between. A batch of the classic flow whose partition
nobody has added yet is refused as in Kafka; nothing of it is stored, and it can be sent again once it is added.
"""

from collections.abc import Iterator
from itertools import permutations
from random import Random

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.end_txn import EndTxnRequest
from tests.scenarios.shop import END_VERSION, PARTITIONS, Producer, Shop, add_request, produced
from tests.unit.broker.builders import Sent

RETRIABLE = {ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.CONCURRENT_TRANSACTIONS}
NOT_ADDED = ErrorCode.TRANSACTION_ABORTABLE
DRIVER, FIRST_WRITER = 1, 2


def values_of(writer: int, count: int = 4) -> list[bytes]:
    return [f"{writer}-{number}".encode() for number in range(count)]


@pytest.mark.parametrize("committed", [True, False], ids=["commit", "abort"])
def test_writers_on_their_own_partitions_and_a_driver_on_the_oldest_connection_make_one_transaction(
    shop: Shop, flow: int, committed: bool
) -> None:
    driver = shop.producer(flow=flow)
    if flow == 1:
        driver.add(*range(PARTITIONS), connection=DRIVER)
    sent = [
        driver.start_writing(value, partition=writer, sequence=number, connection=FIRST_WRITER + writer)
        for number in range(4)
        for writer, value in ((writer, values_of(writer)[number]) for writer in range(PARTITIONS))
    ]
    assert [each.reply for each in sent] == [None] * len(sent)
    end = shop.broker.send(EndTxnRequest("shop", *driver.identity, committed), END_VERSION[flow], connection=DRIVER)
    shop.broker.commit()
    assert [produced(each).error_code for each in sent] == [ErrorCode.NONE] * len(sent)
    assert shop.ended(end).error_code == ErrorCode.NONE
    for writer in range(PARTITIONS):
        assert shop.committed(writer) == (values_of(writer) if committed else [])


@pytest.mark.parametrize("order", list(permutations(["add 0", "add 1", "write 0", "write 1"])), ids="-".join)
def test_in_any_order_of_adds_and_writes_nothing_is_lost_or_doubled_in_the_classic_flow(
    shop: Shop, order: tuple[str, ...]
) -> None:
    driver = shop.producer(flow=1)
    added: set[int] = set()
    refused = []
    for step in order:
        name, partition = step.split()
        writer = int(partition)
        if name == "add":
            shop.broker.send(add_request(driver.identity, writer), 3, connection=FIRST_WRITER + writer)
            added.add(writer)
            continue
        sent = driver.start_writing(b"a", partition=writer, connection=FIRST_WRITER + writer)
        shop.broker.commit()
        is_added = writer in added
        assert produced(sent).error_code == (ErrorCode.NONE if is_added else NOT_ADDED)
        refused += [] if is_added else [writer]
    for writer in refused:
        assert driver.write(b"a", partition=writer, connection=FIRST_WRITER + writer).error_code == ErrorCode.NONE
    assert shop.end(driver.identity, version=4, connection=9).error_code == ErrorCode.NONE
    assert (shop.committed(0), shop.committed(1)) == ([b"a"], [b"a"])


def test_the_first_batch_of_each_writer_joins_its_partition_and_one_record_lists_them_all(shop: Shop) -> None:
    driver = shop.producer()
    sent = [driver.start_writing(b"a", partition=each, connection=FIRST_WRITER + each) for each in range(PARTITIONS)]
    shop.broker.commit()
    assert [produced(each).error_code for each in sent] == [ErrorCode.NONE] * PARTITIONS
    (topic,) = shop.described().topics
    assert topic.partitions == list(range(PARTITIONS))
    shop.end(driver.identity, connection=DRIVER)


@pytest.mark.parametrize("seed", range(20))
def test_writers_that_lose_answers_and_resend_in_any_order_neither_lose_nor_double_a_batch(
    shop: Shop, flow: int, seed: int
) -> None:
    """Each writer keeps two batches in flight on its partition, and sends some twice. The broker is killed in the
    middle of it; what was not answered is sent again."""
    random = Random(seed)
    driver = shop.producer(flow=flow)
    if flow == 1:
        driver.add(*range(PARTITIONS), connection=DRIVER)
    unanswered = {writer: dict(enumerate(values_of(writer))) for writer in range(PARTITIONS)}
    killed_at = random.randrange(8)
    for turn in range(100):
        if not any(unanswered.values()):
            break
        in_flight = list(deliveries(driver, unanswered, random))
        if turn == killed_at:
            shop.kill()
            continue
        shop.broker.commit()
        for writer, sequence, sent in in_flight:
            answer = produced(sent)
            assert answer.error_code in {ErrorCode.NONE, *RETRIABLE}, answer
            if answer.error_code == ErrorCode.NONE and random.random() < 0.7:
                unanswered[writer].pop(sequence, None)
    assert not any(unanswered.values())
    assert shop.end(driver.identity, version=END_VERSION[flow], connection=DRIVER).error_code == ErrorCode.NONE
    for writer in range(PARTITIONS):
        assert shop.committed(writer) == values_of(writer)


def deliveries(
    driver: Producer, unanswered: dict[int, dict[int, bytes]], random: Random
) -> Iterator[tuple[int, int, Sent]]:
    """The first two batches that each writer waits for, shuffled among all writers, some of them twice.

    With an epoch per transaction a writer's own batches may overtake one another. In the classic flow they come in
    order, as on one connection: an unknown producer may start anywhere there (KIP-360), so what comes first is taken.
    """
    waiting = [(writer, *item) for writer, items in unanswered.items() for item in list(items.items())[:2]]
    waiting += random.sample(waiting, k=len(waiting) // 2)
    random.shuffle(waiting)
    if driver.flow == 1:
        in_order = {writer: sorted(each for each in waiting if each[0] == writer) for writer in unanswered}
        waiting = [in_order[writer].pop(0) for writer, _, _ in waiting]
    for writer, sequence, value in waiting:
        yield (
            writer,
            sequence,
            driver.start_writing(value, partition=writer, sequence=sequence, connection=FIRST_WRITER + writer),
        )


def test_a_writer_that_comes_after_the_end_writes_nothing(shop: Shop, flow: int) -> None:
    driver = shop.producer(flow=flow)
    identity = driver.identity
    driver.send(b"a")
    end = shop.broker.send(EndTxnRequest("shop", *identity, committed=True), END_VERSION[flow], connection=DRIVER)
    late = [
        driver.start_writing(b"late", partition=0, sequence=1, identity=identity, connection=2),
        driver.start_writing(b"late", partition=1, sequence=0, identity=identity, connection=3),
    ]
    shop.broker.commit()
    assert shop.ended(end).error_code == ErrorCode.NONE
    expected = {1: NOT_ADDED, 2: ErrorCode.INVALID_PRODUCER_EPOCH}[flow]
    assert [produced(each).error_code for each in late] == [expected] * 2
    assert (shop.written(0), shop.written(1)) == ([b"a"], [])
