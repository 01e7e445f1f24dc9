"""A partition's log as a value, read from both brokers: what became of each offset, and who is given it."""

import itertools

import pytest

from fencepost.client import Admin, Producer
from fencepost.client.admin.inspecting import Outcome
from fencepost.client.exceptions import UnknownTopicOrPartition
from fencepost.lab.partition_log import READ_COMMITTED, READ_UNCOMMITTED, PartitionLog, read_log

numbers = itertools.count()


@pytest.fixture
def topic(servers: str) -> str:
    name = f"drawn-{next(numbers)}"
    with Admin(servers) as admin:
        admin.create_topic(name, 2)
    return name


def end(servers: str, producer: Producer, *, is_commit: bool) -> None:
    """Kafka answers before the markers are written: wait for them."""
    producer.commit_transaction() if is_commit else producer.abort_transaction()
    transactional_id = producer.settings.transactional_id
    assert transactional_id is not None
    with Admin(servers) as admin:
        admin.await_transaction_end(transactional_id)


def rows(log: PartitionLog) -> list[tuple[int, str, str]]:
    return [(cell.offset, cell.outcome.value, cell.text) for cell in log.cells]


def test_an_open_transaction_holds_back_one_reader_and_not_the_other(servers: str, topic: str) -> None:
    with (
        Producer(servers) as plain,
        Producer(servers, transactional_id=f"{topic}-quick") as quick,
        Producer(servers, transactional_id=f"{topic}-slow") as slow,
    ):
        quick.init_transactions()
        slow.init_transactions()
        plain.send(topic, b"first", partition=0).result()
        for is_commit, value in ((True, b"kept"), (False, b"dropped")):
            quick.begin_transaction()
            quick.send(topic, value, partition=0).result()
            end(servers, quick, is_commit=is_commit)
        slow.begin_transaction()
        slow.send(topic, b"undecided", partition=0).result()
        plain.send(topic, None, key=b"k", partition=0).result()
        quick.begin_transaction()
        quick.send(topic, b"\xff", partition=0).result()
        end(servers, quick, is_commit=False)

        log = read_log(servers, topic)
        assert rows(log) == [
            (0, "plain", "first"),
            (1, "committed", "kept"),
            (2, "marker", "COMMIT"),
            (3, "aborted", "dropped"),
            (4, "marker", "ABORT"),
            (5, "open", "undecided"),
            (6, "plain", "null"),
            (7, "aborted", "\\xff"),
            (8, "marker", "ABORT"),
        ]
        assert (log.last_stable_offset, log.high_watermark) == (5, 9)
        assert log.handed_out == {READ_COMMITTED: {0, 1}, READ_UNCOMMITTED: {0, 1, 3, 5, 6, 7}}

        end(servers, slow, is_commit=True)
        log = read_log(servers, topic)
        assert (log.last_stable_offset, log.high_watermark) == (10, 10)
        assert log.cells[5].outcome is Outcome.COMMITTED
        assert log.handed_out[READ_COMMITTED] == {0, 1, 5, 6}


def test_only_the_end_of_a_long_log_is_read(servers: str, topic: str) -> None:
    with Producer(servers) as producer:
        for number in range(100):
            producer.send(topic, b"%d" % number, partition=1)
    log = read_log(servers, topic, 1, offsets_max=5)
    assert rows(log) == [(offset, "plain", str(offset)) for offset in range(95, 100)]
    assert log.handed_out == {READ_COMMITTED: set(range(95, 100)), READ_UNCOMMITTED: set(range(95, 100))}


def test_a_reader_who_is_held_back_before_the_end_that_is_shown_gets_nothing(servers: str, topic: str) -> None:
    with Producer(servers) as plain, Producer(servers, transactional_id=topic) as slow:
        slow.init_transactions()
        slow.begin_transaction()
        slow.send(topic, b"undecided", partition=0).result()
        for _ in range(4):
            plain.send(topic, b"behind", partition=0).result()
        log = read_log(servers, topic, offsets_max=2)
        assert [cell.offset for cell in log.cells] == [3, 4]
        assert log.handed_out == {READ_COMMITTED: set(), READ_UNCOMMITTED: {3, 4}}
        slow.abort_transaction()


def test_an_empty_partition_is_shown_as_one(servers: str, topic: str) -> None:
    log = read_log(servers, topic)
    assert repr(log).splitlines() == [
        f"{topic}-0: last stable offset 0, high watermark 0",
        "offset  what  value  producer  read_committed  read_uncommitted",
    ]


def test_a_partition_or_topic_that_is_not_there_is_an_error(servers: str, topic: str) -> None:
    with pytest.raises(UnknownTopicOrPartition, match="partitions 0 to 1, not 7"):
        read_log(servers, topic, 7)
    with pytest.raises(UnknownTopicOrPartition):
        read_log(servers, f"{topic}-and-no-other")
