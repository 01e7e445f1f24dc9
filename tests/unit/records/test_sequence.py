from hypothesis import example, given, settings
from hypothesis import strategies as st

from fencepost.records.record import SEQUENCE_MAX, decrement_sequence, increment_sequence

sequences = st.integers(0, SEQUENCE_MAX)


@settings(deadline=None)
@given(sequences, sequences)
@example(SEQUENCE_MAX, 1)
@example(SEQUENCE_MAX, SEQUENCE_MAX)
@example(0, 1)
@example(0, 0)
def test_increment_and_decrement_are_the_formulas_of_the_specification(sequence: int, by: int) -> None:
    incremented = by - (SEQUENCE_MAX - sequence) - 1 if sequence > SEQUENCE_MAX - by else sequence + by
    decremented = SEQUENCE_MAX - (by - sequence) + 1 if sequence < by else sequence - by
    assert increment_sequence(sequence, by) == incremented
    assert decrement_sequence(sequence, by) == decremented
