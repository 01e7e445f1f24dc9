"""Two messages in one transaction, and the loop of reading, processing and writing."""

import pytest

from examples.documents.basics.__main__ import VERSIONS, play
from examples.documents.programs import HARM
from tests.documents_running.playing import OpenStage


@pytest.mark.parametrize("version", VERSIONS)
def test_a_kill_in_the_middle_does_what_the_page_says(open_stage: OpenStage, version: str) -> None:
    with open_stage() as stage:
        account = play(stage, version)
    assert account.anomalies == HARM["basics", version], account
