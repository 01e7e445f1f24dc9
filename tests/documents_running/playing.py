"""A failure of the documents, played without the feature and with it."""

from collections.abc import Callable

from examples.documents.accounts import Account
from examples.documents.failures import Failure
from examples.documents.stage import Stage

OpenStage = Callable[[], Stage]


def play(failure: Failure, open_stage: OpenStage) -> None:
    """Without the feature exactly the harm that the page names, with it one to one."""
    without = _play(failure, open_stage, failure.without)
    assert without.anomalies == failure.harm, without
    with_it = _play(failure, open_stage, failure.feature)
    assert not with_it.anomalies, with_it
    assert with_it.count_in > 0


def _play(failure: Failure, open_stage: OpenStage, version: str) -> Account:
    with open_stage() as stage:
        return failure.story(stage, version)
