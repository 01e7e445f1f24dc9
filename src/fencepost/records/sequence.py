"""Sequence arithmetic: sequences live in 0..2147483647 and wrap to 0, never to a negative number."""

SEQUENCE_MAX = 2**31 - 1
_SEQUENCE_COUNT = 2**31


def increment_sequence(sequence: int, by: int) -> int:
    return (sequence + by) % _SEQUENCE_COUNT


def decrement_sequence(sequence: int, by: int) -> int:
    return (sequence - by) % _SEQUENCE_COUNT


def is_next_sequence(sequence: int, last_sequence: int) -> bool:
    """Whether `sequence` directly follows `last_sequence`; -1 as the last one means that none was seen yet."""
    return sequence == increment_sequence(last_sequence, 1)
