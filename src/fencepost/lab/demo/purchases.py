"""Purchases of an online shop, with the documents' fields, streamed at a steady pace; and what became of them.

The key is the purchase's number: it goes through the pipeline unchanged, so that one can tell what became of each.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from fencepost.client import Producer, read_arrow
from fencepost.client.exceptions import ClientError

TOPIC = "purchases"
CUSTOMERS = ("Ada Lovelace", "Grace Hopper", "Barbara Liskov", "Leslie Lamport", "Jim Gray")
PRICE_CENTS = (1_250, 399, 8_900, 2_075)
SLICE_S = 0.1
PATIENCE_MS = 120_000
"""The broker is killed on purpose; a record waits until it is back."""


def purchase(number: int) -> bytes:
    product, quantity = number % len(PRICE_CENTS), number % 3 + 1
    fields = {
        "userId": f"user-{number % 97}",
        "userFullName": CUSTOMERS[number % len(CUSTOMERS)],
        "productId": f"product-{product}",
        "quantity": quantity,
        "totalPrice": PRICE_CENTS[product] * quantity / 100,
    }
    return json.dumps(fields).encode()


def purchase_key(number: int) -> bytes:
    return b"purchase-%07d" % number


class PurchaseStream:
    """A thread that sends purchases. `sent` counts the acknowledged ones; `problem` says why it ended too early."""

    def __init__(
        self, bootstrap_servers: str, *, per_second: int, on_sent: Callable[[int], None] | None = None
    ) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._per_slice = max(1, round(per_second * SLICE_S))
        self._on_sent = on_sent
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="purchases", daemon=True)
        self.sent = 0
        self.problem: ClientError | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> int:
        """Ends when everything sent is acknowledged. Returns how many purchases there are."""
        self._is_stopping.set()
        self._thread.join()
        if self.problem is not None:
            raise self.problem
        return self.sent

    def _run(self) -> None:
        try:
            with Producer(self._bootstrap_servers, delivery_timeout_ms=PATIENCE_MS) as producer:
                next_slice_s = time.monotonic()
                while not self._is_stopping.is_set():
                    for number in range(self.sent, self.sent + self._per_slice):
                        producer.send(TOPIC, value=purchase(number), key=purchase_key(number))
                    producer.flush()
                    self.sent += self._per_slice
                    if self._on_sent is not None:
                        self._on_sent(self.sent)
                    next_slice_s = max(next_slice_s + SLICE_S, time.monotonic())
                    self._is_stopping.wait(next_slice_s - time.monotonic())
        except ClientError as problem:
            self.problem = problem


@dataclass(frozen=True)
class Judgement:
    """Every purchase must have one invoice and one shipment, visible to a `read_committed` reader in the end."""

    purchases: int
    invoices: int
    shipments: int
    duplicates: int
    lost: int
    torn: int
    """Purchases with an invoice and no shipment, or the other way round."""

    @property
    def is_exactly_once(self) -> bool:
        return not (self.duplicates or self.lost or self.torn)


def judge(bootstrap_servers: str, *, invoices: str, shipments: str) -> Judgement:
    bought = _by_purchase(bootstrap_servers, TOPIC)
    invoiced = _by_purchase(bootstrap_servers, invoices)
    shipped = _by_purchase(bootstrap_servers, shipments)
    return Judgement(
        purchases=bought.total(),
        invoices=invoiced.total(),
        shipments=shipped.total(),
        duplicates=(invoiced - bought).total() + (shipped - bought).total(),
        lost=(bought - invoiced).total() + (bought - shipped).total(),
        torn=sum((key in invoiced) != (key in shipped) for key in bought),
    )


def _by_purchase(bootstrap_servers: str, topic: str) -> Counter[bytes]:
    return Counter(read_arrow(bootstrap_servers, topic)["key"].to_pylist())
