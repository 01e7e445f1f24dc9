"""The money transfer: debit and credit together, or neither."""

from examples.documents.programs import HARM
from examples.documents.transfer.__main__ import play
from tests.documents_running.playing import OpenStage


def test_the_plain_transfer_books_twice_and_makes_or_loses_money(open_stage: OpenStage) -> None:
    with open_stage() as stage:
        account, surplus = play(stage, "plain")
    assert account.anomalies == HARM["transfer", "plain"] != set()
    assert surplus != 0


def test_with_transactions_debit_and_credit_are_together_and_money_is_neither_made_nor_lost(
    open_stage: OpenStage,
) -> None:
    with open_stage() as stage:
        account, surplus = play(stage, "transactional")
    assert account.anomalies == HARM["transfer", "transactional"] == set()
    assert account.count_out == 2 * account.count_in > 0
    assert surplus == 0
