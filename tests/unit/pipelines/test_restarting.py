import pytest

from fencepost.client.exceptions import Disconnected
from fencepost.pipelines.restarting import BackOff, in_one_line, is_final
from fencepost.spark.sink_errors import FencedByAnotherDriver, GaveUp, LedgerDisagrees


def test_the_pause_doubles_up_to_its_limit_and_a_commit_starts_it_anew():
    back_off = BackOff()
    assert [back_off.next_pause_s() for _ in range(9)] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    back_off.reset()
    assert back_off.next_pause_s() == 0.5


@pytest.mark.parametrize("problem", [FencedByAnotherDriver("x"), LedgerDisagrees("x")])
def test_what_the_next_start_would_meet_again_is_final(problem):
    assert is_final(problem)


@pytest.mark.parametrize("problem", [GaveUp("x"), Disconnected("x"), OSError("x"), ValueError("a task failed")])
def test_what_may_pass_is_tried_again(problem):
    assert not is_final(problem)


def test_a_final_cause_is_found_under_others():
    wrapped = RuntimeError("foreachBatch failed")
    wrapped.__cause__ = FencedByAnotherDriver("by somebody")
    assert is_final(wrapped)


def test_a_problem_is_told_in_one_line():
    assert in_one_line(ValueError("\n  what happened\n  at org.apache.spark")) == "ValueError: what happened"
    assert in_one_line(ValueError()) == "ValueError: no message"
