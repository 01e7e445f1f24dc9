"""What the ledger's last token means for the micro-batch that Spark has planned: every comparison of step 3."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.spark.sink.errors import LedgerDisagrees
from fencepost.spark.sink.token import BatchToken, Verdict, decode_token, judge

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
TOKENS = st.builds(
    BatchToken,
    sink=st.text(),
    query_id=st.text(),
    run_id=st.text(),
    writer=st.text(),
    batch_id=st.integers(0),
    start=st.none() | st.lists(JSON, max_size=3).map(tuple),
    end=st.lists(JSON, max_size=3).map(tuple),
    record_count=st.integers(0),
)

LAST = BatchToken(
    sink="shop",
    query_id="q1",
    run_id="r1",
    writer="w1",
    batch_id=7,
    start=({"in": {"0": 10}},),
    end=({"in": {"0": 20}},),
)
SAME_AGAIN = replace(LAST, run_id="r2", writer="w2")
NEXT = replace(SAME_AGAIN, batch_id=8, start=LAST.end, end=({"in": {"0": 30}},))


@given(TOKENS)
def test_a_token_comes_back_as_it_was_written(token: BatchToken) -> None:
    assert decode_token(token.encode()) == token


def test_a_token_of_another_format_is_refused() -> None:
    with pytest.raises(LedgerDisagrees, match="format 99"):
        decode_token(LAST.encode().replace(b'"version":1', b'"version":99'))


def test_the_first_micro_batch_of_a_query_needs_no_token() -> None:
    assert judge(None, replace(NEXT, batch_id=0, start=None), may_adopt=False) is Verdict.PUBLISH


def test_an_empty_ledger_stops_a_query_that_is_not_at_its_beginning() -> None:
    with pytest.raises(LedgerDisagrees, match="the ledger is empty"):
        judge(None, NEXT, may_adopt=False)
    assert judge(None, NEXT, may_adopt=True) is Verdict.PUBLISH


def test_the_following_micro_batch_goes_on_where_the_last_one_ended() -> None:
    assert judge(LAST, NEXT, may_adopt=False) is Verdict.PUBLISH
    assert judge(LAST, replace(NEXT, batch_id=11), may_adopt=False) is Verdict.PUBLISH


def test_a_micro_batch_of_an_earlier_run_is_done() -> None:
    assert judge(LAST, SAME_AGAIN, may_adopt=False) is Verdict.DONE


def test_a_commit_whose_answer_was_lost_is_done() -> None:
    assert judge(LAST, LAST, may_adopt=False, is_own_retry=True) is Verdict.DONE


DISAGREEMENTS = {
    "another query": (replace(NEXT, query_id="q2"), "belongs to another query"),
    "another query at its beginning": (
        replace(NEXT, query_id="q2", batch_id=0, start=None),
        "belongs to another query",
    ),
    "an older checkpoint": (replace(SAME_AGAIN, batch_id=6), "older than what was committed.*another driver"),
    "a gap": (replace(NEXT, start=({"in": {"0": 21}},)), "does not start where"),
    "an overlap": (replace(NEXT, start=({"in": {"0": 19}},)), "does not start where"),
    "no start at all": (replace(NEXT, start=None), "does not start where"),
    "the same with another end": (replace(SAME_AGAIN, end=({"in": {"0": 25}},)), "with other offsets"),
    "the same with another start": (replace(SAME_AGAIN, start=({"in": {"0": 9}},)), "with other offsets"),
    "the same in the same run": (replace(LAST, writer="w2"), "two sinks of one name"),
    "the same from the same sink": (LAST, "two sinks of one name"),
}


@pytest.mark.parametrize(("planned", "reason"), DISAGREEMENTS.values(), ids=DISAGREEMENTS)
def test_anything_else_stops_and_shows_both_sides(planned: BatchToken, reason: str) -> None:
    with pytest.raises(LedgerDisagrees, match=reason) as told:
        judge(LAST, planned, may_adopt=False)
    assert str(LAST) in str(told.value)
    assert str(planned) in str(told.value)


@pytest.mark.parametrize("planned", [planned for planned, _ in DISAGREEMENTS.values() if planned.query_id == "q1"])
def test_adopting_forgives_another_query_and_nothing_else(planned: BatchToken) -> None:
    with pytest.raises(LedgerDisagrees):
        judge(LAST, planned, may_adopt=True)


@given(TOKENS, TOKENS, st.booleans(), st.booleans())
def test_nothing_is_skipped_unless_every_field_is_equal(
    last: BatchToken, planned: BatchToken, may_adopt: bool, is_own_retry: bool
) -> None:
    try:
        verdict = judge(last, planned, may_adopt=may_adopt, is_own_retry=is_own_retry)
    except LedgerDisagrees:
        return
    if verdict is Verdict.DONE:
        fields = ("query_id", "batch_id", "start", "end")
        assert all(getattr(last, name) == getattr(planned, name) for name in fields)
