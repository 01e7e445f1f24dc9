from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.records.record import SEQUENCE_MAX, decrement_sequence, increment_sequence

sequences = st.integers(0, SEQUENCE_MAX)


def test_a_sequence_after_the_largest_one_is_zero() -> None:
    assert increment_sequence(SEQUENCE_MAX, 1) == 0
    assert increment_sequence(SEQUENCE_MAX - 2, 5) == 2
    assert increment_sequence(SEQUENCE_MAX, SEQUENCE_MAX) == SEQUENCE_MAX - 1


def test_a_sequence_before_zero_is_the_largest_one() -> None:
    assert decrement_sequence(0, 1) == SEQUENCE_MAX
    assert decrement_sequence(2, 5) == SEQUENCE_MAX - 2


@settings(deadline=None)
@given(sequences, sequences)
def test_increment_and_decrement_are_the_formulas_of_the_specification(sequence: int, by: int) -> None:
    incremented = by - (SEQUENCE_MAX - sequence) - 1 if sequence > SEQUENCE_MAX - by else sequence + by
    decremented = SEQUENCE_MAX - (by - sequence) + 1 if sequence < by else sequence - by
    assert increment_sequence(sequence, by) == incremented
    assert decrement_sequence(sequence, by) == decremented


@settings(deadline=None)
@given(sequences, sequences)
def test_decrement_undoes_increment(sequence: int, by: int) -> None:
    assert decrement_sequence(increment_sequence(sequence, by), by) == sequence
