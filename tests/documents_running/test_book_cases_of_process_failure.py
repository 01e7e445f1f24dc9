"""The five points at which the book lets a processing stage die."""

from examples.documents import failures
from tests.documents_running.playing import OpenStage, play

FAILURES = {failure.name: failure for failure in failures.BOOK}


def test_case_1_failure_before_consumption(open_stage: OpenStage) -> None:
    play(FAILURES["case_1_failure_before_consumption"], open_stage)


def test_case_2_failure_after_consumption_but_before_the_transform(open_stage: OpenStage) -> None:
    play(FAILURES["case_2_failure_after_consumption_but_before_the_transform"], open_stage)


def test_case_3_failure_following_the_transform_but_before_publishing(open_stage: OpenStage) -> None:
    play(FAILURES["case_3_failure_following_the_transform_but_before_publishing"], open_stage)


def test_case_4_failure_after_publishing_but_before_confirming_the_offsets(open_stage: OpenStage) -> None:
    play(FAILURES["case_4_failure_after_publishing_but_before_confirming_the_offsets"], open_stage)


def test_case_5_failure_after_committing_the_offsets(open_stage: OpenStage) -> None:
    play(FAILURES["case_5_failure_after_committing_the_offsets"], open_stage)
