"""The first record of a transaction waits for the markers of the last one, if the coordinator answers before them."""

import time

import pytest

from fencepost.client import transaction_control as marker_wait
from fencepost.client.transaction_control import TRIALS, MarkerWait


class Coordinator:
    """Says as often as it is told that it is not ready; then that it is."""

    def __init__(self) -> None:
        self.busy_answers = 0
        self.asked_count = 0

    def is_ending(self) -> bool:
        self.asked_count += 1
        self.busy_answers -= 1
        return self.busy_answers >= 0


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()


@pytest.fixture
def markers(coordinator: Coordinator, monkeypatch: pytest.MonkeyPatch) -> MarkerWait:
    monkeypatch.setattr(marker_wait, "BROKER_PAUSE_S", 30.0)
    return MarkerWait(coordinator)  # type: ignore[arg-type]


def test_it_asks_until_the_markers_are_written(markers: MarkerWait, coordinator: Coordinator) -> None:
    markers.transaction_ended()
    coordinator.busy_answers = 3
    markers.wait()
    assert coordinator.asked_count == 4


def test_before_the_first_transaction_there_is_nothing_to_wait_for(
    markers: MarkerWait, coordinator: Coordinator
) -> None:
    markers.wait()
    assert coordinator.asked_count == 0


def test_it_waits_no_longer_than_the_broker_would(coordinator: Coordinator) -> None:
    markers = MarkerWait(coordinator)  # type: ignore[arg-type]
    markers.transaction_ended()
    coordinator.busy_answers = 10**9
    began_s = time.monotonic()
    markers.wait()
    assert time.monotonic() - began_s >= marker_wait.BROKER_PAUSE_S * 0.9
    asked_count = coordinator.asked_count
    markers.wait()
    assert coordinator.asked_count == asked_count


def test_a_coordinator_that_is_never_busy_is_not_asked_any_more(markers: MarkerWait, coordinator: Coordinator) -> None:
    for _ in range(TRIALS + 5):
        markers.transaction_ended()
        markers.wait()
    assert coordinator.asked_count == TRIALS


def test_one_that_was_busy_once_is_asked_for_ever(markers: MarkerWait, coordinator: Coordinator) -> None:
    coordinator.busy_answers = 1
    for _ in range(TRIALS + 5):
        markers.transaction_ended()
        markers.wait()
    assert coordinator.asked_count == 1 + TRIALS + 5
