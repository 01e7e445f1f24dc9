"""What the deep dive says of the idempotent producer, and where it is not enough."""

import pytest

from examples.documents import failures
from tests.documents_running.playing import OpenStage, play

pytestmark = pytest.mark.deep

FAILURES = {failure.name: failure for failure in failures.IDEMPOTENCE}


def test_produce_request_timeout(open_stage: OpenStage) -> None:
    play(FAILURES["produce_request_timeout"], open_stage)


def test_producer_restart(open_stage: OpenStage) -> None:
    play(FAILURES["producer_restart"], open_stage)


def test_broker_restart(open_stage: OpenStage) -> None:
    play(FAILURES["broker_restart"], open_stage)
