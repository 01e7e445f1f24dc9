"""Each invariant bites: histories written by hand, one right, and for every check the ways to be wrong."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fencepost.broker.catalogue import TRANSACTION_TOPIC
from fencepost.records.builder import build_batch
from fencepost.records.control import build_marker
from fencepost.records.header import stamp_in_place
from fencepost.records.record import Record
from fencepost.transactions.log_records import Marker, ProducerIdsRecord, TransactionLogRecord
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import Transaction
from fencepost.types import ProducerIdentity, TopicPartition
from tests.scenarios import invariants
from tests.scenarios.history import CommitTold, Entry, History, Offsets, ReadFrom, entry_of
from tests.scenarios.shop import Shop

A, B = TopicPartition("orders", 0), TopicPartition("orders", 1)
STATE_LOG = TopicPartition(TRANSACTION_TOPIC, 0)
P = 7
ONGOING, EMPTY = TransactionState.ONGOING, TransactionState.EMPTY
PREPARE_COMMIT, COMPLETE_COMMIT = TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT
PREPARE_ABORT, COMPLETE_ABORT = TransactionState.PREPARE_ABORT, TransactionState.COMPLETE_ABORT


def data(where: TopicPartition, offset: int, sequence: int, *, epoch: int = 0, is_transactional: bool = True) -> Entry:
    batch = build_batch(
        [Record(value=b"x")],
        producer_id=P,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=is_transactional,
    )
    return entry_of(where, stamped(batch, offset))


def stamped(batch: bytes, offset: int) -> bytes:
    copied = bytearray(batch)
    stamp_in_place(copied, base_offset=offset, leader_epoch=0)
    return bytes(copied)


def marker(where: TopicPartition, offset: int, *, is_commit: bool = True, epoch: int = 1) -> Entry:
    batch = build_marker(producer_id=P, producer_epoch=epoch, is_commit=is_commit, coordinator_epoch=0, timestamp_ms=0)
    return entry_of(where, stamped(batch, offset))


def logged(
    state: TransactionState,
    *partitions: TopicPartition,
    epoch: int = 0,
    producer_id: int = P,
    transactional_id: str = "shop",
) -> Entry:
    transaction = Transaction(
        transactional_id,
        producer_id,
        epoch,
        60_000,
        state,
        0,
        previous_producer_id=producer_id,
        last_producer_epoch=epoch - 1,
        client_transaction_version=2,
        partitions=frozenset(partitions),
    )
    return Entry(
        STATE_LOG,
        data(A, 0, 0).header._replace(producer_id=-1, base_sequence=-1, attributes=0),
        None,
        (TransactionLogRecord(transactional_id, transaction),),
    )


def consumed(history_offsets: dict[TopicPartition, list[int]], end: int = 4) -> dict[ReadFrom, list[int]]:
    return {
        ReadFrom(where, start, 1): [each for each in offsets if each >= start]
        for where, offsets in history_offsets.items()
        for start in range(end)
    }


def right() -> History:
    """One committed transaction on two partitions, two records on the first, and one open on the second."""
    entries = [
        logged(EMPTY),
        logged(ONGOING, A, B),
        data(A, 0, 0),
        data(A, 1, 1),
        data(B, 0, 0),
        logged(PREPARE_COMMIT, A, B, epoch=1),
        marker(A, 2),
        marker(B, 1),
        logged(COMPLETE_COMMIT, epoch=1),
        logged(ONGOING, B, epoch=1),
        data(B, 2, 0, epoch=1),
    ]
    prepared = logged(PREPARE_COMMIT, A, B, epoch=1).logged[0]
    assert isinstance(prepared, TransactionLogRecord)
    assert prepared.transaction is not None
    return History(
        entries=entries,
        offsets={A: Offsets(0, 3, 3, 3), B: Offsets(0, 2, 3, 3)},
        consumed=consumed({A: [0, 1], B: [0]}),
        commits_told=[CommitTold("shop", ProducerIdentity(P, 0), 5, (prepared.transaction,))],
        identities_told=[("shop", ProducerIdentity(P, 0)), (None, ProducerIdentity(8, 0))],
    )


def with_entry(index: int, *entries: Entry) -> Callable[[History], History]:
    """Another entry, or none, in the place of one."""
    return lambda history: replace(history, entries=[*history.entries[:index], *entries, *history.entries[index + 1 :]])


def with_offsets(**offsets: Offsets) -> Callable[[History], History]:
    return lambda history: replace(
        history, offsets={A: offsets.get("a", history.offsets[A]), B: offsets.get("b", history.offsets[B])}
    )


def with_consumed(where: TopicPartition, start: int, offsets: list[int]) -> Callable[[History], History]:
    return lambda history: replace(history, consumed={**history.consumed, ReadFrom(where, start, 1): offsets})


def with_told(**changes: Any) -> Callable[[History], History]:
    return lambda history: replace(history, commits_told=[history.commits_told[0]._replace(**changes)])


def prepared_abort() -> tuple[Transaction, ...]:
    (record,) = logged(PREPARE_ABORT, A, B, epoch=1).logged
    assert isinstance(record, TransactionLogRecord)
    assert record.transaction is not None
    return (record.transaction,)


PREPARE_AT, MARKER_A_AT, MARKER_B_AT, COMPLETE_AT, NEXT_AT, LAST_AT = 5, 6, 7, 8, 9, 10

WRONG: dict[str, tuple[Callable[[History], None], Callable[[History], History]]] = {
    "a gap in the sequences": (invariants.check_sequences, with_entry(3, data(A, 1, 2))),
    "a batch stored twice": (invariants.check_sequences, with_entry(3, data(A, 1, 0))),
    "a marker of the other type": (invariants.check_markers, with_entry(MARKER_B_AT, marker(B, 1, is_commit=False))),
    "a marker that was skipped": (invariants.check_markers, with_entry(MARKER_B_AT)),
    "a marker before PREPARE": (invariants.check_markers, with_entry(2, marker(A, 0))),
    "the next epoch before the marker": (
        invariants.check_markers,
        with_entry(3, data(A, 1, 0, epoch=1)),
    ),
    "data on a partition that is not listed": (
        invariants.check_open_transactions,
        with_entry(1, logged(ONGOING, A)),
    ),
    "data of nobody": (invariants.check_open_transactions, with_entry(0, data(A, 0, 0))),
    "data after the end": (invariants.check_open_transactions, with_entry(LAST_AT, data(A, 3, 0, epoch=1))),
    "an open transaction whose id is complete": (
        invariants.check_open_transactions,
        with_entry(LAST_AT, data(B, 2, 0, epoch=1), logged(COMPLETE_ABORT, epoch=2)),
    ),
    "an open transaction that its id has forgotten": (
        invariants.check_open_transactions,
        with_entry(LAST_AT, data(B, 2, 0, epoch=1), logged(ONGOING, A, epoch=1)),
    ),
    "the last stable offset above the high watermark": (
        invariants.check_offsets,
        with_offsets(a=Offsets(0, 4, 3, 4)),
    ),
    "the high watermark above the log's end": (invariants.check_offsets, with_offsets(a=Offsets(0, 3, 4, 3))),
    "the last stable offset past an open transaction": (
        invariants.check_offsets,
        with_offsets(b=Offsets(0, 3, 3, 3)),
    ),
    "the last stable offset held back by nothing": (invariants.check_offsets, with_offsets(a=Offsets(0, 1, 3, 3))),
    "a committed record that is not read": (invariants.check_read_committed, with_consumed(A, 1, [])),
    "a record that is read twice": (invariants.check_read_committed, with_consumed(A, 0, [0, 0, 1])),
    "a record of an open transaction that is read": (
        invariants.check_read_committed,
        with_consumed(B, 0, [0, 2]),
    ),
    "an aborted record that is read": (
        invariants.check_read_committed,
        with_entry(MARKER_A_AT, marker(A, 2, is_commit=False)),
    ),
    "an epoch that goes back": (
        invariants.check_identities,
        with_entry(NEXT_AT, logged(ONGOING, B, epoch=0)),
    ),
    "a producer id with two owners": (
        invariants.check_identities,
        with_entry(NEXT_AT, logged(EMPTY, transactional_id="other")),
    ),
    "a producer id that comes back": (
        invariants.check_identities,
        with_entry(NEXT_AT, logged(EMPTY, producer_id=P + 1), logged(EMPTY, epoch=2)),
    ),
    "an idempotent producer with the id of a transactional one": (
        invariants.check_identities,
        lambda history: replace(history, identities_told=[(None, ProducerIdentity(P, 0))]),
    ),
    "a producer id given out twice": (
        invariants.check_identities,
        lambda history: replace(history, identities_told=[(None, ProducerIdentity(8, 0))] * 2),
    ),
    "producer ids that start again": (
        invariants.check_identities,
        with_entry(NEXT_AT, *[logged(EMPTY)._replace(logged=(ProducerIdsRecord(each),)) for each in (9, 9)]),
    ),
    "a commit that was told before PREPARE was synced": (invariants.check_commits_told, with_told(prepared=())),
    "a commit that was told of an aborted transaction": (
        invariants.check_commits_told,
        with_told(prepared=prepared_abort()),
    ),
    "a classic commit that was told of a transaction of the other flow": (
        invariants.check_commits_told,
        with_told(presented=ProducerIdentity(P, 1), api_version=4),
    ),
    "a commit that was told of another epoch": (
        invariants.check_commits_told,
        with_told(presented=ProducerIdentity(P, 4)),
    ),
}


def test_a_right_history_passes_every_check() -> None:
    invariants.check_invariants(right())


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_history_is_caught_by_the_check_that_is_for_it(wrong: str) -> None:
    check, spoil = WRONG[wrong]
    with pytest.raises(AssertionError):
        check(spoil(right()))


def test_every_check_has_its_wrong_histories() -> None:
    assert {check for check, _ in WRONG.values()} == set(invariants.ALL)


def test_what_expired_may_start_its_sequences_anywhere() -> None:
    history = with_entry(3, data(A, 1, 12))(right())
    history.forgotten_producer_ids = frozenset({P})
    invariants.check_sequences(history)


def test_a_marker_that_an_administrator_wrote_is_passed_only_where_the_scenario_says_so() -> None:
    history = with_entry(LAST_AT, data(B, 2, 0, epoch=1), marker(B, 3))(right())
    with pytest.raises(AssertionError, match="no PREPARE"):
        invariants.check_markers(history)
    history.has_foreign_markers = True
    invariants.check_markers(history)


def test_a_broker_that_forgets_a_marker_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The invariants over a real core with a planted bug, end to end."""
    shop = Shop()
    producer = shop.producer()
    producer.send(b"a")
    producer.send(b"b", partition=1)
    coordinator = type(shop.broker.core.transactions)
    prepare = coordinator._prepare
    monkeypatch.setattr(
        coordinator,
        "_prepare",
        lambda self, entry, now_ms: (
            None if isinstance(entry, Marker) and entry.topic_partition == B else prepare(self, entry, now_ms)
        ),
    )
    producer.commit()
    with pytest.raises(AssertionError, match="open on"):
        shop.check()


def test_a_broker_that_answers_before_the_sync_is_caught() -> None:
    shop = Shop()
    producer = shop.producer()
    producer.send(b"a")
    answer_at_once = shop.broker.core.reply
    shop.broker.core.reply = lambda message: answer_at_once(message)._replace(position=-1)  # type: ignore[method-assign]
    commit, shop.broker.commit = shop.broker.commit, lambda: None  # type: ignore[method-assign]
    producer.commit()
    shop.broker.commit = commit  # type: ignore[method-assign]
    with pytest.raises(AssertionError, match="no PREPARE is on the disk"):
        shop.check()
