"""A database row and a message are two transactions: a crash between them tears them apart, whichever comes first."""

from examples.documents.database.__main__ import play
from examples.documents.programs import HARM
from tests.documents_running.playing import OpenStage


def test_a_crash_behind_the_row_leaves_a_row_without_its_message(open_stage: OpenStage) -> None:
    with open_stage() as stage:
        account = play(stage, "row first")
    assert (account.count_in, account.count_out, account.torn) == (8, 7, 1)
    assert account.anomalies == HARM["database", "row first"]


def test_a_crash_behind_the_message_leaves_a_message_without_its_row(open_stage: OpenStage) -> None:
    with open_stage() as stage:
        account = play(stage, "message first")
    assert (account.count_in, account.count_out, account.torn) == (7, 8, 1)
    assert account.anomalies == HARM["database", "message first"]


def test_an_outbox_whose_position_is_committed_with_its_messages_keeps_them_together(open_stage: OpenStage) -> None:
    with open_stage() as stage:
        account = play(stage, "outbox")
    assert (account.count_in, account.count_out) == (8, 8)
    assert account.anomalies == HARM["database", "outbox"] == set()
