"""The filter of read_committed, batch by batch, and against a model that knows how every transaction ended."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.client.consumer.fetch_chunk import FetchFilter
from fencepost.records.header import read_header
from tests.unit.client.stored import batch, marker


def kept(batches: list[bytes], aborted: list[tuple[int, int]] | None) -> list[int]:
    """The base offsets of the batches that a reader gets."""
    is_filtered = FetchFilter(aborted)
    return [read_header(b).base_offset for b in batches if not is_filtered(read_header(b), memoryview(b))]


def test_without_transactions_everything_is_kept_but_markers() -> None:
    plain = batch(1, producer_id=7, is_transactional=False)
    batches = [batch(0), plain, marker(2, 7, is_commit=True), marker(3, 8, is_commit=False), batch(4)]
    assert kept(batches, None) == [0, 1, 4]
    assert kept(batches, []) == [0, 1, 4]


def test_plain_batches_of_an_aborting_producer_id_are_kept() -> None:
    assert kept([batch(0, producer_id=7, is_transactional=False), batch(1, producer_id=7)], [(7, 0)]) == [0]


def test_a_transaction_that_begins_inside_a_batch_of_several_records_skips_the_whole_batch() -> None:
    assert kept([batch(10, 5, producer_id=7)], [(7, 12)]) == []


def test_entries_come_in_the_order_of_their_markers_and_may_be_too_many() -> None:
    batches = [
        batch(0, producer_id=1),
        batch(1, producer_id=2),
        marker(2, 2, is_commit=False),
        batch(3, producer_id=2),
        marker(4, 1, is_commit=False),
        batch(5, producer_id=1),
    ]
    assert kept(batches, [(2, 1), (1, 0), (9, 0), (2, 900)]) == [3, 5]


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
            log.append(batch(len(log), producer_id=producer_id))
        elif kind == "plain":
            expected.add(len(log))
            log.append(batch(len(log)))
        else:
            end(producer_id, is_commit=kind == "commit")
    for producer_id in list(open_since):
        end(producer_id, is_commit=False)
    aborted = [(producer_id, first) for producer_id, first, last in index if last >= start]
    assert kept(log[start:], aborted) == sorted(offset for offset in expected if offset >= start)
