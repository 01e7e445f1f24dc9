import pytest
from pyspark.errors import AnalysisException, PythonException, StreamingQueryException

from fencepost.client.exceptions import (
    AuthenticationFailed,
    Disconnected,
    InvalidTopic,
    RecordTooLarge,
    UnsupportedVersion,
)
from fencepost.pipelines.restarting import BackOff, in_one_line, in_words, is_final
from fencepost.spark.sink.errors import FencedByAnotherDriver, GaveUp, LedgerDisagrees

CREATING = "[PYTHON_DATA_SOURCE_ERROR] Failed to create Python data source instance: "
PLANNING = (
    "[STREAM_FAILED] Query [id = 91c6c882, runId = da382789] terminated with exception: "
    "[PYTHON_STREAMING_DATA_SOURCE_RUNTIME_ERROR] Failed when Python streaming data source perform latestOffset: "
)
IN_A_TASK = "An exception was thrown from the Python worker:\n"
HANDLING = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
LOSS = "fencepost.spark.source.following.DataLoss"


def traceback(line):
    """As Spark shows one: the frames, and the exception with its message."""
    return f'Traceback (most recent call last):\n  File "source.py", line 23, in read\n    raise it\n{line}'


def test_the_pause_doubles_up_to_its_limit_and_a_commit_starts_it_anew():
    back_off = BackOff()
    assert [back_off.next_pause_s() for _ in range(9)] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    back_off.reset()
    assert back_off.next_pause_s() == 0.5


@pytest.mark.parametrize(
    "problem",
    [
        FencedByAnotherDriver("x"),
        LedgerDisagrees("x"),
        AuthenticationFailed("x"),
        InvalidTopic("x"),
        RecordTooLarge("x"),
        UnsupportedVersion("x"),
    ],
)
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


@pytest.mark.parametrize(
    "name",
    [
        "fencepost.spark.options.InvalidOption",
        "fencepost.spark.source.following.DataLoss",
        "fencepost.spark.source.cluster.UnknownTopic",
        "fencepost.spark.source.following.OtherCluster",
        "fencepost.spark.offsets.InvalidSourceOffset",
        "fencepost.client.exceptions.TopicAuthorization",
    ],
)
def test_a_final_error_of_the_source_is_known_by_its_name_in_what_spark_says(name):
    assert is_final(AnalysisException(CREATING + traceback(f"{name}: why\n SQLSTATE: 38000")))
    assert is_final(StreamingQueryException(PLANNING + traceback(f"{name}: why\n SQLSTATE: 38000")))
    assert is_final(PythonException(IN_A_TASK + traceback(f"{name}: why")))


def test_a_final_error_of_the_source_is_found_behind_the_one_that_it_came_from():
    first = traceback("fencepost.client.exceptions.OffsetOutOfRange: why")
    assert is_final(PythonException(IN_A_TASK + first + HANDLING + traceback(f"{LOSS}: gone")))
    first = traceback("ssl.SSLCertVerificationError: why")
    last = traceback("fencepost.client.exceptions.AuthenticationFailed: not trusted")
    assert is_final(StreamingQueryException(PLANNING + first + HANDLING + last))


@pytest.mark.parametrize(
    "text",
    [
        IN_A_TASK + traceback(f"ValueError: bad row x\n{LOSS}: fake"),
        IN_A_TASK + traceback(f"ValueError: bad row {HANDLING}{traceback(f'{LOSS}: fake')}"),
        f"[CAST_INVALID_INPUT] The value 'x\n{CREATING}{traceback(f'{LOSS}: fake')}' cannot be cast",
        PLANNING + traceback(f"ValueError: {LOSS}: in the middle of a line"),
        PLANNING + traceback("fencepost.client.exceptions.Disconnected: nobody there"),
        PLANNING + traceback("someone.DataLoss: of another house"),
    ],
)
def test_no_content_of_a_row_makes_an_error_final(text):
    assert not is_final(PythonException(text))
    assert not is_final(StreamingQueryException(text))


def test_a_traceback_is_told_by_its_last_line():
    problem = AnalysisException(CREATING + traceback("fencepost.spark.options.InvalidOption: 'abc' is no number\n SQL"))
    assert in_one_line(problem) == "InvalidOption: 'abc' is no number"
    handled = traceback("KeyError: 1") + HANDLING + traceback(f"{LOSS}: gone")
    assert in_one_line(PythonException(IN_A_TASK + handled)) == "DataLoss: gone"
    assert in_one_line(PythonException(IN_A_TASK + traceback("AssertionError"))) == "AssertionError"


def test_the_end_of_a_run_tells_our_own_errors_whole_and_of_sparks_the_cause():
    assert in_words(LedgerDisagrees("one line\nand another")) == "one line\nand another"
    planned = StreamingQueryException(PLANNING + traceback(f"{LOSS}: gone\n SQLSTATE\n=== Streaming Query ==="))
    assert in_words(planned) == "DataLoss: gone"
    by_user = PythonException(IN_A_TASK + traceback("ValueError: what the pipeline's own function said"))
    assert in_words(by_user) == str(by_user), "whoever wrote it needs the lines of the traceback"
