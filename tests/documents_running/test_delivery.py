"""Delivery semantics on both sides, under one fault plan for all of them."""

import pytest

from examples.documents.delivery.__main__ import SEMANTICS, play_consumer, play_producer
from examples.documents.programs import HARM, PERHAPS
from tests.documents_running.playing import OpenStage


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_a_producer_loses_repeats_and_reorders_as_its_semantics_say(open_stage: OpenStage, semantics: str) -> None:
    with open_stage() as stage:
        account = play_producer(stage, semantics)
    version = ("delivery", f"producer, {semantics}")
    assert HARM[version] <= account.anomalies <= HARM[version] | PERHAPS[version], account


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_a_consumer_loses_and_repeats_as_its_semantics_say(open_stage: OpenStage, semantics: str) -> None:
    with open_stage() as stage:
        account = play_consumer(stage, semantics)
    assert account.anomalies == HARM["delivery", f"consumer, {semantics}"], account
