import pytest

from fencepost.errors import InvariantBroken
from fencepost.partition.partition import AbortedIndex


def index_of(*rows: tuple[int, int, int, int]) -> AbortedIndex:
    index = AbortedIndex()
    for producer_id, first_offset, marker_offset, last_stable_offset in rows:
        index.append(
            producer_id=producer_id,
            first_offset=first_offset,
            marker_offset=marker_offset,
            last_stable_offset=last_stable_offset,
        )
    return index


def test_a_transaction_is_selected_by_any_overlap_with_the_range() -> None:
    index = index_of((5, 10, 20, 21))
    assert index.select(start_offset=0, end_offset=10) == []
    assert index.select(start_offset=0, end_offset=11) == [(5, 10)]
    assert index.select(start_offset=20, end_offset=99) == [(5, 10)]
    assert index.select(start_offset=21, end_offset=99) == []


def test_a_transaction_that_began_early_and_ended_late_is_found_behind_later_ones() -> None:
    index = index_of((2, 30, 40, 5), (3, 50, 60, 5), (1, 5, 70, 71))
    assert index.select(start_offset=0, end_offset=10) == [(1, 5)]
    assert index.select(start_offset=35, end_offset=45) == [(2, 30), (1, 5)]


def test_a_selection_stops_where_nothing_later_can_matter() -> None:
    index = index_of((1, 0, 2, 3), (2, 3, 5, 6))
    assert index.select(start_offset=0, end_offset=3) == [(1, 0)]


def test_markers_come_in_order() -> None:
    with pytest.raises(InvariantBroken):
        index_of((1, 0, 9, 10), (2, 1, 9, 10))


def test_what_lies_before_the_log_start_is_forgotten_by_its_marker() -> None:
    index = index_of((1, 0, 9, 10), (2, 5, 20, 21))
    index.forget_below(9)
    assert len(index) == 2
    index.forget_below(10)
    assert index.select(start_offset=0, end_offset=99) == [(2, 5)]
    index.forget_below(21)
    assert len(index) == 0


def test_transactions_whose_data_was_cleaned_away_are_forgotten_by_their_markers() -> None:
    index = index_of((1, 0, 9, 10), (2, 10, 20, 21), (3, 21, 30, 31))
    index.forget_markers([20, 77])
    assert index == index_of((1, 0, 9, 10), (3, 21, 30, 31))
