"""kill -9 of the run (and its JVM with it), of the broker, of both, at random moments: output equals f(input) in the
end.
"""

import contextlib
import json
import random
import threading
import time

import psutil
import pytest

from fencepost.client import Producer
from tests.kill.killed_broker import KilledBroker
from tests.spark.pipelines.running import Run, Spare, assert_gone
from tests.spark.pipelines.use import as_bytes, create, lag, read, read_headers

pytestmark = pytest.mark.timeout(7200)
SETTINGS = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "500"}
PATIENCE_MS = 600_000


class Purchases:
    """Written at a steady pace while others are killed; each is acknowledged once, because the producer is
    idempotent.
    """

    def __init__(self, servers):
        self.count = 0
        self._servers = servers
        self._is_stopping = threading.Event()
        self._problem = None
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_stopping.set()
        self._thread.join()
        if self._problem is not None:
            raise self._problem

    def _write(self):
        try:
            with Producer(self._servers, delivery_timeout_ms=PATIENCE_MS) as producer:
                while not self._is_stopping.wait(0.05):
                    for number in range(self.count, self.count + 5):
                        producer.send("purchases", key=b"%d" % number, value=value_of(number))
                    producer.flush()
                    self.count += 5
        except BaseException as problem:  # noqa: BLE001 - told to whoever waits for the writer
            self._problem = problem


def value_of(number):
    if number % 50 == 7:
        return b"unreadable %d" % number
    return as_bytes(
        {"userId": "u", "userFullName": "Ada", "productId": f"p{number}", "quantity": number, "totalPrice": 1.5}
    )


def check(servers, count):
    """Everything that was written has its invoice and its shipment, or its dead letter; nothing else is there."""
    good = [number for number in range(count) if number % 50 != 7]
    for topic in ("invoices", "shipments"):
        rows = read(servers, topic)
        assert sorted(int(key) for key, _ in rows) == good
        assert all(json.loads(value)["quantity"] == int(key) for key, value in rows)
    letters = read(servers, "purchases.dead-letters")
    assert sorted(letters) == sorted((b"%d" % number, value_of(number)) for number in range(7, count, 50))
    assert len({header["fencepost.offset"] for header in read_headers(servers, "purchases.dead-letters")}) <= len(
        letters
    )
    assert lag(servers, "purchases", "fencepost.default.shop") == 0


def kill_at_random(tmp_path, *, kills, seed):
    """Victims in turn: the run, the broker, both. Three runs of four are killed after their first commit at the
    earliest, and are spares that were started ahead; the fourth is killed wherever it is, also while it starts."""
    chance = random.Random(seed)
    families: list[list[psutil.Process]] = []
    with KilledBroker(tmp_path / "data", seed=seed, settings=SETTINGS) as broker, contextlib.ExitStack() as runs:
        create(broker.bootstrap_servers, "purchases")
        run = spare = None
        with Purchases(broker.bootstrap_servers) as purchases:
            for number in range(kills):
                if run is None:
                    is_let_start = number % 4 != 3
                    taken = spare if is_let_start else None
                    run = runs.enter_context(Run("shop.py", broker.bootstrap_servers, tmp_path, spare=taken))
                    if taken is not None or spare is None:
                        spare = runs.enter_context(Spare(tmp_path))
                    if is_let_start:
                        run.wait_for_progress(transactions=1)
                time.sleep(chance.uniform(0.0, 3.0))
                victim = ("run", "broker", "both")[number % 3]
                if victim != "broker":
                    families.append(run.family())
                    run.kill()
                    run = None
                if victim != "run":
                    broker.kill()
                    broker.start()
        if run is not None:
            run.kill()
        last = runs.enter_context(Run("shop.py", broker.bootstrap_servers, tmp_path, "--once", spare=spare))
        assert last.wait_for_end() == 0, last.story()
        for family in families:
            assert_gone(family)
        assert purchases.count > 0
        check(broker.bootstrap_servers, purchases.count)


@pytest.mark.shallow
def test_three_kills_at_random_moments_lose_nothing_and_repeat_nothing(tmp_path):
    kill_at_random(tmp_path, kills=3, seed=1)


@pytest.mark.deep
def test_twenty_four_kills_at_random_moments_lose_nothing_and_repeat_nothing(tmp_path):
    kill_at_random(tmp_path, kills=24, seed=2)
