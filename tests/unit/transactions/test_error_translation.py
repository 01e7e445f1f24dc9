"""The tables of the rule book, written down a second time as numbers."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.transactions.error_translation import (
    APPEND_ERRORS,
    coordinator_error,
    produce_error,
    txn_offset_commit_error,
)


@pytest.mark.parametrize(
    ("api_name", "first_version"),
    [("InitProducerId", 4), ("AddPartitionsToTxn", 2), ("AddOffsetsToTxn", 2), ("EndTxn", 2)],
)
def test_versions_from_before_producer_fenced_are_told_invalid_producer_epoch(
    api_name: str, first_version: int
) -> None:
    for version in range(7):
        expected = 90 if version >= first_version else 47
        assert coordinator_error(api_name, version, ErrorCode.PRODUCER_FENCED) == expected
        assert coordinator_error(api_name, version, ErrorCode.INVALID_TXN_STATE) == 48


@pytest.mark.parametrize(
    ("answer", "up_to_10", "at_11", "from_12"),
    [
        (120, 48, 120, 120),
        (90, 47, 47, 47),
        (49, 49, 49, 49),
        (14, 19, 19, 19),
        (15, 19, 19, 19),
        (16, 19, 19, 19),
        (13, 19, 19, 19),
        (51, 19, 19, 51),
        (31, 48, 48, 48),
        (0, 0, 0, 0),
    ],
)
def test_produce_translates_the_coordinators_answer(answer: int, up_to_10: int, at_11: int, from_12: int) -> None:
    code = ErrorCode(answer)
    assert [produce_error(version, code) for version in (3, 10)] == [up_to_10, up_to_10]
    assert produce_error(11, code) == at_11
    assert [produce_error(version, code) for version in (12, 13)] == [from_12, from_12]


@pytest.mark.parametrize(
    ("answer", "v0_1", "v2_3", "v4_6"),
    [
        (120, 48, 48, 120),
        (90, 47, 47, 47),
        (51, 51, 51, 51),
        (13, 15, 14, 14),
        (14, 15, 14, 14),
        (3, 15, 15, 15),
        (19, 15, 15, 15),
        (7, 15, 15, 15),
        (6, 16, 16, 16),
        (56, 16, 16, 16),
        (10, -1, -1, -1),
        (18, -1, -1, -1),
        (49, 49, 49, 49),
    ],
)
def test_txn_offset_commit_translates_the_coordinators_answer(answer: int, v0_1: int, v2_3: int, v4_6: int) -> None:
    expected = [v0_1, v0_1, v2_3, v2_3, v4_6, v4_6, v4_6]
    assert [txn_offset_commit_error(version, ErrorCode(answer)) for version in range(7)] == expected


def test_failed_appends_are_translated_for_the_coordinators_own_answers() -> None:
    assert {int(code): int(answer) for code, answer in APPEND_ERRORS.items()} == {
        3: 15,
        19: 15,
        20: 15,
        7: 15,
        6: 16,
        56: 16,
        10: -1,
        18: -1,
    }
