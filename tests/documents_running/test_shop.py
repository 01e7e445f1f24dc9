"""The shop: who sends a parcel twice, and whose invoices come without shipments."""

import pytest

from examples.documents.programs import HARM
from examples.documents.shop.__main__ import play
from tests.documents_running.playing import OpenStage


@pytest.mark.deep
@pytest.mark.parametrize("version", ["plain", "idempotent"])
def test_without_transactions_purchases_are_handled_twice(open_stage: OpenStage, version: str) -> None:
    with open_stage() as stage:
        account = play(stage, version)
    assert account.anomalies == HARM["shop", version] != set()


def test_with_transactions_each_purchase_has_one_invoice_and_one_shipment(open_stage: OpenStage) -> None:
    with open_stage() as stage:
        account = play(stage, "transactional")
    assert account.anomalies == HARM["shop", "transactional"] == set()
    assert account.count_out == 2 * account.count_in > 0


@pytest.mark.deep
def test_the_idempotent_shop_repeats_less_than_the_plain_one(open_stage: OpenStage) -> None:
    with open_stage() as stage:
        plain = play(stage, "plain")
        idempotent = play(stage, "idempotent")
    assert plain.repeated > idempotent.repeated > 0
