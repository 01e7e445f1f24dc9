"""What Produce and TxnOffsetCommit answer when the coordinator refuses, as numbers of Kafka's error codes."""

import pytest

from fencepost.broker.transaction_coordinator import produce_error, txn_offset_commit_error
from fencepost.errors import ErrorCode


@pytest.mark.parametrize(
    ("refused", "up_to_10", "at_11", "from_12"),
    [(120, 48, 120, 120), (90, 47, 47, 47), (49, 49, 49, 49), (16, 19, 19, 19), (51, 19, 19, 51), (48, 48, 48, 48)],
)
def test_produce_translates_the_coordinators_refusal(refused: int, up_to_10: int, at_11: int, from_12: int) -> None:
    expected = {3: up_to_10, 10: up_to_10, 11: at_11, 12: from_12, 13: from_12}
    assert {version: produce_error(version, ErrorCode(refused)) for version in expected} == expected


@pytest.mark.parametrize(
    ("refused", "up_to_3", "from_4"),
    [(120, 48, 120), (90, 47, 47), (51, 51, 51), (56, 16, 16), (16, 16, 16), (49, 49, 49)],
)
def test_txn_offset_commit_translates_the_coordinators_refusal(refused: int, up_to_3: int, from_4: int) -> None:
    expected = [up_to_3] * 4 + [from_4] * 2
    assert [txn_offset_commit_error(version, ErrorCode(refused)) for version in range(6)] == expected
