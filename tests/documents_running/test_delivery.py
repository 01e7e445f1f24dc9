"""Delivery semantics on both sides, under one fault plan for all of them."""

import pytest

from examples.documents.delivery.__main__ import play_consumer, play_producer
from tests.documents_running.playing import OpenStage


@pytest.mark.parametrize(
    ("semantics", "harm"),
    [("at-most-once", {"lost"}), ("at-least-once", {"repeated", "reordered"}), ("exactly-once", set())],
)
def test_producer(open_stage: OpenStage, semantics: str, harm: set[str]) -> None:
    with open_stage() as stage:
        account = play_producer(stage, semantics)
    assert account.anomalies == harm, account


@pytest.mark.parametrize(
    ("semantics", "harm"), [("at-most-once", {"lost"}), ("at-least-once", {"repeated"}), ("exactly-once", set())]
)
def test_consumer(open_stage: OpenStage, semantics: str, harm: set[str]) -> None:
    with open_stage() as stage:
        account = play_consumer(stage, semantics)
    assert account.anomalies == harm, account
