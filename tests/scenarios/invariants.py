"""What must hold after every fault scenario: seven checks over a history, each of them raising `AssertionError`.

They follow the list under the table of scenarios. `check_invariants` runs all seven; `test_canaries` shows that each
one bites.
"""

from collections.abc import Callable, Iterator

from fencepost.records.record import increment_sequence
from fencepost.transactions.log_records import ProducerIdsRecord, TransactionLogRecord
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import Transaction
from fencepost.types import NO_IDENTITY, NO_SEQUENCE, ProducerIdentity, TopicPartition
from tests.scenarios.history import CommitTold, Entry, History

EPOCH_BUMP_SINCE_VERSION = 5
EPOCH_PER_TRANSACTION = 2


def check_invariants(history: History) -> None:
    for check in ALL:
        check(history)


def check_sequences(history: History) -> None:
    """1. Within a producer id, an epoch and a partition, sequences follow one another without gap or repeat."""
    last: dict[tuple[TopicPartition, int, int], int] = {}
    for topic_partition, header, _, _ in history.entries:
        if header.base_sequence == NO_SEQUENCE or header.producer_id in history.forgotten_producer_ids:
            continue
        key = (topic_partition, header.producer_id, header.producer_epoch)
        if key in last:
            expected = increment_sequence(last[key], 1)
            assert header.base_sequence == expected, f"{key}: sequence {header.base_sequence} follows {last[key]}"
        last[key] = header.last_sequence


def check_markers(history: History) -> None:
    """2. A transaction's data is followed by a marker before the next one's; all markers of one end are of one type."""
    open_epochs: dict[tuple[TopicPartition, int], int] = {}
    decided: dict[int, Transaction] = {}
    for entry in history.entries:
        key = (entry.topic_partition, entry.header.producer_id)
        if entry.marker is not None:
            open_epochs.pop(key, None)
            _check_marker_type(history, entry, decided)
        elif entry.is_transactional_data:
            epoch = open_epochs.setdefault(key, entry.header.producer_epoch)
            assert epoch == entry.header.producer_epoch, f"{key}: no marker between epoch {epoch} and the next"
        for transaction in _logged_transactions(entry):
            if transaction.state.is_prepare:
                decided[transaction.producer_id] = transaction
            elif transaction.state.is_complete:
                prepared = decided.pop(transaction.previous_producer_id, transaction)
                open_still = [each for each in prepared.partitions if (each, prepared.producer_id) in open_epochs]
                assert not open_still, f"{transaction.transactional_id} is complete, and open on {open_still}"


def _check_marker_type(history: History, entry: Entry, decided: dict[int, Transaction]) -> None:
    if entry.header.producer_id not in decided:
        assert history.has_foreign_markers, f"{entry}: a marker that no PREPARE goes before"
        return
    prepared = decided[entry.header.producer_id]
    is_commit = prepared.state is TransactionState.PREPARE_COMMIT
    assert entry.marker is not None
    assert entry.marker.is_commit == is_commit, f"{entry.topic_partition}: marker against {prepared.state.kafka_name}"


def check_open_transactions(history: History) -> None:
    """3. Transactional data is only ever in partitions that its id lists: nothing hangs."""
    listed: dict[int, Transaction] = {}
    for entry in history.entries:
        for transaction in _logged_transactions(entry):
            listed[transaction.producer_id] = transaction
        if entry.is_transactional_data:
            owner = listed.get(entry.header.producer_id)
            assert owner is not None, f"{entry}: no transactional id has this producer id"
            is_listed = owner.state is TransactionState.ONGOING and entry.topic_partition in owner.partitions
            assert is_listed, f"{entry.topic_partition} got data of {owner.transactional_id}, which does not list it"
    by_producer_id = {each.producer_id: each for each in history.last_transactions().values()}
    for (topic_partition, producer_id), _ in _open_at_end(history):
        owner = by_producer_id.get(producer_id)
        is_live = owner is not None and (owner.state is TransactionState.ONGOING or owner.state.is_prepare)
        assert is_live, f"the transaction of producer {producer_id} hangs on {topic_partition}"
        assert owner is not None
        assert topic_partition in owner.partitions, f"{owner.transactional_id} does not know of {topic_partition}"


def check_offsets(history: History) -> None:
    """4. LSO <= HW <= LEO, and the LSO stands at the oldest open transaction or, with none, at the high watermark."""
    first_open: dict[TopicPartition, int] = {}
    for (topic_partition, _), first_offset in _open_at_end(history):
        first_open[topic_partition] = min(first_offset, first_open.get(topic_partition, first_offset))
    for topic_partition, offsets in history.offsets.items():
        in_order = offsets.log_start <= offsets.last_stable <= offsets.high_watermark <= offsets.log_end
        assert in_order, f"{topic_partition}: {offsets}"
        expected = max(first_open.get(topic_partition, offsets.high_watermark), offsets.log_start)
        assert offsets.last_stable == min(expected, offsets.high_watermark), f"{topic_partition}: {offsets}, {expected}"


def check_read_committed(history: History) -> None:
    """5. From any start offset and with any fetch size: a record is read iff it is in no transaction or a committed
    one, and below the LSO."""
    visible = _visible_offsets(history)
    for (topic_partition, start_offset, fetch_bytes), consumed in history.consumed.items():
        limit = history.offsets[topic_partition].last_stable
        expected = [each for each in visible.get(topic_partition, []) if start_offset <= each < limit]
        place = f"{topic_partition} from {start_offset} by {fetch_bytes} bytes"
        assert consumed == expected, f"{place}: read {consumed}, committed are {expected}"


def check_identities(history: History) -> None:
    """6. A producer id has one owner for ever, its epochs never decrease, and none is handed out twice."""
    owners: dict[int, str | None] = {}
    newest: dict[str, ProducerIdentity] = {}
    left: dict[str, set[int]] = {}
    next_producer_id = 0
    for entry in history.entries:
        for record in entry.logged:
            if isinstance(record, ProducerIdsRecord):
                assert record.next_producer_id > next_producer_id, "the next producer id never goes back"
                next_producer_id = record.next_producer_id
            elif record.transaction is not None:
                _check_identity(record, owners, newest, left)
    plain = [identity.producer_id for transactional_id, identity in history.identities_told if transactional_id is None]
    assert len(set(plain)) == len(plain), f"producer ids were given twice: {plain}"
    assert not set(plain) & set(owners), "an idempotent producer has the producer id of a transactional one"


def _check_identity(
    record: TransactionLogRecord,
    owners: dict[int, str | None],
    newest: dict[str, ProducerIdentity],
    left: dict[str, set[int]],
) -> None:
    assert record.transaction is not None
    transactional_id, identity = record.transactional_id, record.transaction.identity
    owner = owners.setdefault(identity.producer_id, transactional_id)
    assert owner == transactional_id, f"{identity} belongs to {owner!r} and to {transactional_id!r}"
    before = newest.get(transactional_id, NO_IDENTITY)
    gone = left.setdefault(transactional_id, set())
    assert identity.producer_id not in gone, f"{transactional_id!r} came back to {identity}"
    if before.producer_id == identity.producer_id:
        assert identity >= before, f"{transactional_id!r} went from {before} back to {identity}"
    elif before != NO_IDENTITY:
        gone.add(before.producer_id)
    newest[transactional_id] = identity


def check_commits_told(history: History) -> None:
    """7. Whoever was told that a commit is done finds PrepareCommit of exactly that transaction on the disk."""
    for told in history.commits_told:
        prepared = [each for each in told.prepared if _is_end_of(each, told)]
        assert prepared, f"{told.transactional_id} {told.presented} was told NONE, and no PREPARE is on the disk"
        last = prepared[-1].state
        assert last is TransactionState.PREPARE_COMMIT, (
            f"{told.presented} was told NONE, the disk has {last.kafka_name}"
        )


def _is_end_of(prepared: Transaction, told: CommitTold) -> bool:
    """From v5 PREPARE has the next epoch and remembers the one that was presented."""
    is_bumped = prepared.client_transaction_version >= EPOCH_PER_TRANSACTION
    if told.api_version >= EPOCH_BUMP_SINCE_VERSION:
        return is_bumped and prepared.last_producer_epoch == told.presented.producer_epoch
    return not is_bumped and prepared.identity == told.presented


ALL: tuple[Callable[[History], None], ...] = (
    check_sequences,
    check_markers,
    check_open_transactions,
    check_offsets,
    check_read_committed,
    check_identities,
    check_commits_told,
)


def _logged_transactions(entry: Entry) -> Iterator[Transaction]:
    for record in entry.logged:
        if isinstance(record, TransactionLogRecord) and record.transaction is not None:
            yield record.transaction


def _open_at_end(history: History) -> list[tuple[tuple[TopicPartition, int], int]]:
    """Partition, producer id and first offset of each transaction that has data and no marker."""
    first_offsets: dict[tuple[TopicPartition, int], int] = {}
    for entry in history.entries:
        key = (entry.topic_partition, entry.header.producer_id)
        if entry.marker is not None:
            first_offsets.pop(key, None)
        elif entry.is_transactional_data:
            first_offsets.setdefault(key, entry.header.base_offset)
    return sorted(first_offsets.items())


def _visible_offsets(history: History) -> dict[TopicPartition, list[int]]:
    visible: dict[TopicPartition, list[int]] = {}
    undecided: dict[tuple[TopicPartition, int], list[int]] = {}
    for topic_partition, header, marker, _ in history.entries:
        offsets = list(range(header.base_offset, header.last_offset + 1))
        key = (topic_partition, header.producer_id)
        if marker is not None:
            decided = undecided.pop(key, [])
            visible.setdefault(topic_partition, []).extend(decided if marker.is_commit else [])
        elif header.is_transactional and not header.is_control:
            undecided.setdefault(key, []).extend(offsets)
        elif not header.is_control:
            visible.setdefault(topic_partition, []).extend(offsets)
    return {topic_partition: sorted(offsets) for topic_partition, offsets in visible.items()}
