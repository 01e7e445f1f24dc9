"""Three instances of a stage, killed with SIGKILL at random moments and started again, while input keeps coming."""

import random
import time
from collections.abc import Callable

import pytest

from examples.documents.actor import Actor
from examples.documents.shop.__main__ import Shop
from examples.documents.squares.__main__ import Squares
from examples.documents.transfer.__main__ import Bank
from examples.documents.waiting import wait_for
from tests.documents_running.playing import OpenStage

pytestmark = pytest.mark.deep
INSTANCES = 3
KILLS = 8


def kill_at_random(start: Callable[[int], Actor], feed: Callable[[], None], *, seed: int) -> None:
    """Between two kills the instances work for a random while; each of them has its turn."""
    chance = random.Random(seed)
    instances = [start(number) for number in range(INSTANCES)]
    # Not any one of them: the shop has two partitions, so one of three instances stands by.
    wait_for("somebody has partitions", lambda: any("Assigned" in instance.said for instance in instances))
    for _ in range(KILLS):
        feed()
        time.sleep(chance.uniform(0.1, 2.5))
        number = chance.randrange(INSTANCES)
        instances[number].kill()
        instances[number] = start(number)
    feed()


def test_each_square_comes_once_through_random_kills(open_stage: OpenStage) -> None:
    with open_stage() as stage:
        squares = Squares(stage, "pinned")
        kill_at_random(lambda _: squares.start(), lambda: squares.feed(30), seed=1)
        squares.wait_until_done()
        stage.stop_all()
        account = squares.account()
    assert not account.anomalies, account
    assert account.count_out == account.count_in == 30 * (KILLS + 1)


def test_debit_and_credit_come_together_and_once_through_random_kills(open_stage: OpenStage) -> None:
    with open_stage() as stage:
        bank = Bank(stage, "transactional")
        kill_at_random(lambda _: bank.start(), lambda: bank.order(30), seed=2)
        bank.wait_until_done()
        stage.stop_all()
        account, balances = bank.account(), bank.balances()
    assert not account.anomalies, account
    assert account.count_out == 2 * account.count_in == 60 * (KILLS + 1)
    assert sum(balances.values()) == 0


def test_each_purchase_has_one_invoice_and_one_shipment_through_random_kills(open_stage: OpenStage) -> None:
    with open_stage() as stage:
        shop = Shop(stage, "transactional")
        kill_at_random(shop.start, lambda: shop.buy(20), seed=3)
        shop.wait_until_done()
        stage.stop_all()
        account = shop.account()
    assert not account.anomalies, account
    assert account.count_out == 2 * account.count_in == 40 * (KILLS + 1)
