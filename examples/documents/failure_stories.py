"""The stories of the documents' failures: what is done to which program, and the books at the end of it.

A story is given a stage and the version of the program to play, and returns the books.
"""

import time
from collections.abc import Callable
from typing import Any

from examples.documents.accounts import Account, balance
from examples.documents.shop.__main__ import Shop
from examples.documents.shop.purchases import BILLING_GROUP_ID, INVOICES, PAYMENTS, Invoice
from examples.documents.squares.__main__ import Squares
from examples.documents.stage import Broker, Stage
from examples.documents.waiting import wait_for

Story = Callable[[Stage, str], Account]
ABANDONED_TIMEOUT_S = 5.0
RESTARTS_IN_A_TIMEOUT = 3
"""An abandoned transaction is given longer than the broker is away. When the time runs out before Apache Kafka 4.3.1 is
quite back, it skips the markers of partitions whose leader it does not know yet, and their readers wait for ever."""
GIVE_UP_AFTER_S = 12
PATIENT_SESSION_MS = 60_000
"""Longer than any broker takes to come back: a member that is not missed has only the failure itself to survive."""


def send_failure(stage: Stage, version: str) -> Account:
    shop = Shop(stage, version)
    with stage.lossy_network() as network:
        network.lose_answer("Produce", 3)
        shop.round(through=network)
    return shop.account()


def producer_failure(stage: Stage, version: str) -> Account:
    shop = Shop(stage, version)
    shop.round(kill_at="invoice sent:2")
    return shop.account()


def producer_restart(stage: Stage, version: str) -> Account:
    shop = Shop(stage, version)
    shop.round(kill_at="shipment sent:2")
    return shop.account()


def consumer_failure_in_the_loop(stage: Stage, version: str) -> Account:
    shop = Shop(stage, version)
    zombie, peer = shop.start(0, freeze_at="invoice sent:2"), shop.start(1)
    stage.wait_until_shared_out([zombie, peer])
    shop.buy()
    zombie.wait_until_said("SIGSTOP")
    shop.wait_until_done()
    zombie.thaw()
    wait_for("the zombie finds out", lambda: zombie.has_ended or "Revoked" in zombie.said, lambda: zombie.said)
    shop.wait_until_done()
    stage.stop_all()
    return shop.account()


def downstream_consumer_failure(stage: Stage, version: str) -> Account:
    """Upstream leaves an aborted invoice behind; then whoever reads the invoices is killed."""
    shop = Shop(stage, "transactional")
    stage.open_topics({PAYMENTS: 1})
    shop.round(kill_at="invoice sent:2")
    stage.skip_backlog(BILLING_GROUP_ID, INVOICES)
    billing = "examples.documents.shop.billing"
    given: dict[str, Any] = {"exactly_once": True} if version == "transactional" else {}
    stage.start(billing, **given, kill_at="payment sent:3").wait_until_killed()
    stage.start(billing, **given)
    stage.wait_until_consumed(BILLING_GROUP_ID, INVOICES)
    stage.stop_all()
    invoices = [Invoice.from_json(record.value).productId for record in stage.read(INVOICES)]
    payments = [Invoice.from_json(record.value).productId for record in stage.read(PAYMENTS)]
    return balance(invoices, {"payment": payments})


def transaction_coordinator_failure(stage: Stage, version: str) -> Account:
    """The coordinator dies before it answers a commit, and again while a transaction is open that nobody will end."""
    broker = _broker(stage)
    shop = Shop(stage, version)
    commit_api = "EndTxn" if version == "transactional" else "OffsetCommit"
    with stage.lossy_network() as network:
        away_s: list[float] = []
        network.lose_answer(commit_api, 2, then=lambda: away_s.append(_restart(broker)))
        shop.start(0, through=network, session_timeout_ms=PATIENT_SESSION_MS)
        shop.buy()
        shop.wait_until_done()
        stage.stop_all()
    timeout_ms = round(1000 * max(ABANDONED_TIMEOUT_S, RESTARTS_IN_A_TIMEOUT * away_s[0]))
    timeout: dict[str, Any] = {"transaction_timeout_ms": timeout_ms} if version == "transactional" else {}
    abandoned = shop.start(0, kill_at="invoice sent:1", **timeout)
    shop.buy(1)
    abandoned.wait_until_killed()
    _restart(broker)
    wait_for("nobody's transaction is ended", lambda: not stage.is_blocked(INVOICES))
    shop.start(1)
    shop.wait_until_done()
    stage.stop_all()
    return shop.account()


def broker_failure(stage: Stage, version: str) -> Account:
    broker = _broker(stage)
    shop = Shop(stage, version)
    with stage.lossy_network() as network:
        network.lose_answer("Produce", 3, then=lambda: _restart(broker))
        shop.start(0, through=network, session_timeout_ms=PATIENT_SESSION_MS)
        shop.buy()
        shop.wait_until_done()
        stage.stop_all()
    return shop.account()


def group_coordinator_failure(stage: Stage, version: str) -> Account:
    """It dies on the request that commits offsets, and stays away until the service has given up."""
    broker = _broker(stage)
    shop = Shop(stage, version)
    with stage.lossy_network() as network:
        commit_api = "TxnOffsetCommit" if version == "transactional" else "OffsetCommit"
        network.lose_request(commit_api, 2, then=broker.kill)
        given = {"give_up_after_s": GIVE_UP_AFTER_S, "session_timeout_ms": PATIENT_SESSION_MS}
        service = shop.start(0, through=network, **given)
        shop.buy()
        wait_for("the coordinator is struck", lambda: network.is_done, lambda: service.said)
        service.wait_until_said("Error while processing purchase")
        broker.start()
        shop.start(0)
        shop.wait_until_done()
        stage.stop_all()
    return shop.account()


def process_failure(step: str) -> Story:
    """Two instances of the transform stage; one dies at this step, and the other takes over."""

    def story(stage: Stage, version: str) -> Account:
        squares = Squares(stage, version)
        struck = squares.start(kill_at=step)
        struck.wait_until_said("Assigned")
        peer = squares.start()
        peer.wait_until_said("Assigned")
        squares.feed()
        struck.wait_until_killed()
        squares.wait_until_done()
        stage.stop_all()
        return squares.account()

    return story


def _broker(stage: Stage) -> Broker:
    if stage.broker is None:
        raise RuntimeError("this story kills its broker: it cannot be played on one that is somebody else's")
    return stage.broker


def _restart(broker: Broker) -> float:
    """For how many seconds it was away."""
    killed_s = time.monotonic()
    broker.kill()
    broker.start()
    return time.monotonic() - killed_s
