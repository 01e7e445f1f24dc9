"""The shop under three strikes, plain, idempotent and transactional: who sends a parcel twice?

Two instances share `purchases`. The answer to a Produce is lost; an instance is killed between invoice and shipment; an
instance is killed between shipment and commit. Each time it is started again.
"""

import uuid
from typing import Any

from examples.documents.accounts import Account, balance, print_table
from examples.documents.actor import Actor
from examples.documents.network import LossyNetwork
from examples.documents.shop.purchases import GROUP_ID, INVOICES, PURCHASES, SHIPMENTS, Invoice, Purchase, Shipment
from examples.documents.stage import Stage, open_stage, story_arguments
from fencepost.client import Producer

PARTITIONS = 2
PURCHASES_OF_A_ROUND = 8
VERSIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("examples.documents.shop.service", {}),
    "idempotent": ("examples.documents.shop.service", {"idempotent": True}),
    "transactional": ("examples.documents.shop.service_transactional", {}),
}


class Shop:
    """The shop on a stage, in one of its versions."""

    def __init__(self, stage: Stage, version: str) -> None:
        self.stage = stage
        self._version = version
        self._bought = 0
        self._name = uuid.uuid4().hex[:6]
        stage.open_topics({PURCHASES: PARTITIONS, INVOICES: PARTITIONS, SHIPMENTS: PARTITIONS})

    def start(self, number: int, *, through: LossyNetwork | None = None, **arguments: Any) -> Actor:
        """The instance of this number, for the first time or again."""
        module, given = VERSIONS[self._version]
        if self._version == "transactional":
            given = {"transactional_id": f"shop-{number}"}
        return self.stage.start(module, through=through, **given | arguments)

    def buy(self, count: int = PURCHASES_OF_A_ROUND) -> None:
        """So many purchases, in turn on each partition."""
        with Producer(self.stage.bootstrap_servers) as producer:
            for number in range(self._bought, self._bought + count):
                product = f"product-{self._name}-{number}"
                purchase = Purchase(f"user-{number}", product, "Ada Lovelace", quantity=1 + number % 3, totalPrice=9.99)
                producer.send(PURCHASES, purchase.to_json(), partition=number % PARTITIONS)
        self._bought += count

    def wait_until_done(self) -> None:
        self.stage.wait_until_consumed(GROUP_ID, PURCHASES)

    def round(self, *, through: LossyNetwork | None = None, **strike: str) -> None:
        """Two instances; the first is struck, and started again if that killed it."""
        instances = [self.start(0, through=through, **strike), self.start(1)]
        self.stage.wait_until_shared_out(instances)
        self.buy()
        if strike:
            instances[0].wait_until_killed()
            self.start(0)
        self.wait_until_done()
        self.stage.stop_all()

    def account(self) -> Account:
        bought = [Purchase.from_json(record.value).productId for record in self.stage.read(PURCHASES)]
        invoiced = [Invoice.from_json(record.value).productId for record in self.stage.read(INVOICES)]
        shipped = [Shipment.from_json(record.value).productId for record in self.stage.read(SHIPMENTS)]
        return balance(bought, {"invoice": invoiced, "shipment": shipped})


def play(stage: Stage, version: str) -> Account:
    shop = Shop(stage, version)
    with stage.lossy_network() as network:
        network.lose_answer("Produce")
        shop.round(through=network)
    shop.round(kill_at="invoice sent:2")
    shop.round(kill_at="shipment sent:2")
    return shop.account()


def main() -> None:
    arguments = story_arguments(__doc__, version=list(VERSIONS))
    versions = [arguments.version] if arguments.version else list(VERSIONS)
    with open_stage(arguments.bootstrap_servers) as stage:
        print_table({version: play(stage, version) for version in versions})


if __name__ == "__main__":
    main()
