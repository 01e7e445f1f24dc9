import re

import pytest

from fencepost.errors import ErrorCode, Refusal
from fencepost.transactions.queries import PATTERN_CHARACTERS_MAX, parse_id_pattern


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("shop-.*", "shop-17", "a-shop-17"),
        ("shop", "shop", "shop-1"),
        (r"shop-\d+", "shop-17", "shop-x"),
        ("(?:shop|till)-[0-9]{1,3}", "till-999", "till-1000"),
        ("(a|b)?c", "ac", "abc"),
        (r"a\)*b", "a))b", "a)*b"),
        ("[)*]+", ")*)", "x"),
        (r"[\]*]x", "*x", "]]x"),
        (r"a\\", "a\\", "a"),
    ],
)
def test_a_pattern_matches_whole_ids(pattern: str, matching: str, other: str) -> None:
    parsed = parse_id_pattern(pattern)
    assert isinstance(parsed, re.Pattern)
    assert parsed.fullmatch(matching)
    assert not parsed.fullmatch(other)


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "[a",
        "*",
        "(a+)+",
        "(a|a)*b",
        "(a){2,}",
        "(?:a*)*",
        r"(a)\1",
        "(?P<n>a)(?P=n)",
        "(?=a)a",
        "(?<!a)b",
        "a*a*a*a*a*b",
        "a" * (PATTERN_CHARACTERS_MAX + 1),
    ],
)
def test_a_pattern_that_is_wrong_or_could_run_for_ever_is_refused(pattern: str) -> None:
    parsed = parse_id_pattern(pattern)
    assert isinstance(parsed, Refusal)
    assert parsed.error_code is ErrorCode.INVALID_REGULAR_EXPRESSION


@pytest.mark.parametrize("pattern", [None, ""])
def test_no_pattern_filters_nothing(pattern: str | None) -> None:
    assert parse_id_pattern(pattern) is None
