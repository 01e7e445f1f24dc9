"""The filter of read_committed, batch by batch, and against a model that knows how every transaction ended."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.client.consumer.fetch_chunk import FetchFilter
from fencepost.records.builder import build_batch
from fencepost.records.control import build_marker
from fencepost.records.header import read_header, stamp_in_place
from fencepost.records.record import Record


def data(offset: int, *, producer_id: int = -1, is_transactional: bool = False, count: int = 1) -> bytes:
    epoch, sequence = (0, 0) if producer_id >= 0 else (-1, -1)
    batch = build_batch(
        [Record(value=b"v") for _ in range(count)],
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=is_transactional,
    )
    return placed(batch, offset)


def marker(offset: int, producer_id: int, *, is_commit: bool) -> bytes:
    return placed(
        build_marker(
            producer_id=producer_id, producer_epoch=0, is_commit=is_commit, coordinator_epoch=0, timestamp_ms=0
        ),
        offset,
    )


def placed(batch: bytes, offset: int) -> bytes:
    stamped = bytearray(batch)
    stamp_in_place(stamped, base_offset=offset, leader_epoch=0)
    return bytes(stamped)


def kept(batches: list[bytes], aborted: list[tuple[int, int]] | None) -> list[int]:
    """The base offsets of the batches that a reader gets."""
    is_filtered = FetchFilter(aborted)
    return [read_header(b).base_offset for b in batches if not is_filtered(read_header(b), memoryview(b))]


def test_without_transactions_everything_is_kept_but_markers() -> None:
    batches = [data(0), data(1, producer_id=7), marker(2, 7, is_commit=True), marker(3, 8, is_commit=False), data(4)]
    assert kept(batches, None) == [0, 1, 4]
    assert kept(batches, []) == [0, 1, 4]


def test_an_aborted_transaction_is_skipped_up_to_its_marker_and_the_next_one_is_kept() -> None:
    batches = [
        data(0, producer_id=7, is_transactional=True),
        marker(1, 7, is_commit=False),
        data(2, producer_id=7, is_transactional=True),
        marker(3, 7, is_commit=True),
    ]
    assert kept(batches, [(7, 0)]) == [2]


def test_a_transaction_that_began_before_the_answer_is_skipped_from_its_first_batch_on() -> None:
    assert kept([data(50, producer_id=7, is_transactional=True), marker(51, 7, is_commit=False)], [(7, 3)]) == []


def test_plain_batches_of_an_aborting_producer_id_are_kept() -> None:
    assert kept([data(0, producer_id=7), data(1, producer_id=7, is_transactional=True)], [(7, 0)]) == [0]


def test_a_transaction_that_begins_inside_a_batch_of_several_records_skips_the_whole_batch() -> None:
    assert kept([data(10, producer_id=7, is_transactional=True, count=5)], [(7, 12)]) == []


def test_entries_come_in_the_order_of_their_markers_and_may_be_too_many() -> None:
    batches = [
        data(0, producer_id=1, is_transactional=True),
        data(1, producer_id=2, is_transactional=True),
        marker(2, 2, is_commit=False),
        data(3, producer_id=2, is_transactional=True),
        marker(4, 1, is_commit=False),
        data(5, producer_id=1, is_transactional=True),
    ]
    assert kept(batches, [(2, 1), (1, 0), (9, 0), (2, 900)]) == [3, 5]


def test_a_producer_that_aborts_twice_in_one_answer_is_skipped_twice() -> None:
    batches = [
        data(0, producer_id=1, is_transactional=True),
        marker(1, 1, is_commit=False),
        data(2, producer_id=1, is_transactional=True),
        marker(3, 1, is_commit=False),
        data(4, producer_id=1, is_transactional=True),
    ]
    assert kept(batches, [(1, 0), (1, 2)]) == [4]


steps = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["data", "plain", "commit", "abort"])), max_size=60)


@settings(max_examples=300, deadline=None)
@given(steps=steps, start=st.integers(0, 60))
def test_any_interleaving_is_filtered_as_its_transactions_ended(steps: list[tuple[int, str]], start: int) -> None:
    """A log is written step by step; a fetch from anywhere shows what was committed or plain, and nothing else."""
    log: list[bytes] = []
    open_since: dict[int, list[int]] = {}
    expected: set[int] = set()
    index: list[tuple[int, int, int]] = []

    def end(producer_id: int, *, is_commit: bool) -> None:
        offsets = open_since.pop(producer_id, None)
        if offsets is None:
            return
        if is_commit:
            expected.update(offsets)
        else:
            index.append((producer_id, offsets[0], len(log)))
        log.append(marker(len(log), producer_id, is_commit=is_commit))

    for producer_id, kind in steps:
        if kind == "data":
            open_since.setdefault(producer_id, []).append(len(log))
            log.append(data(len(log), producer_id=producer_id, is_transactional=True))
        elif kind == "plain":
            expected.add(len(log))
            log.append(data(len(log)))
        else:
            end(producer_id, is_commit=kind == "commit")
    for producer_id in list(open_since):
        end(producer_id, is_commit=False)
    aborted = [(producer_id, first) for producer_id, first, last in index if last >= start]
    assert kept(log[start:], aborted) == sorted(offset for offset in expected if offset >= start)
