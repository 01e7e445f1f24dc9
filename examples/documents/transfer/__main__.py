"""Alice, Bob and Carol give each other money, while the service that books it is killed at the worst moments.

Three instances share `transfer`. One is killed between debit and credit, one between credit and commit; both are
started again. `balance` is what is left of the money after all: it was nobody's to make or to lose.
"""

import itertools
import uuid
from collections import Counter
from typing import Any

from examples.documents.accounts import Account, balance, print_table
from examples.documents.actor import Actor
from examples.documents.stage import Stage, open_stage, story_arguments
from examples.documents.transfer.transfers import (
    BALANCE_UPDATE,
    GROUP_ID,
    TRANSFER,
    Transfer,
    balance_update_of,
    transfer_of,
)
from fencepost.client import Producer

PARTITIONS = 3
VERSIONS = {
    "plain": "examples.documents.transfer.transfer_plain",
    "transactional": "examples.documents.transfer.transfer_transactional",
}


class Bank:
    def __init__(self, stage: Stage, version: str) -> None:
        self.stage = stage
        self._module = VERSIONS[version]
        self._name = uuid.uuid4().hex[:6]
        self._numbers = itertools.count()
        stage.open_topics({TRANSFER: PARTITIONS, BALANCE_UPDATE: PARTITIONS})

    def start(self, **arguments: Any) -> Actor:
        return self.stage.start(self._module, **arguments)

    def order(self, count: int) -> None:
        """So many transfers of $10, in turn on each partition."""
        people = itertools.cycle(itertools.permutations(["Alice", "Bob", "Carol"], 2))
        with Producer(self.stage.bootstrap_servers) as producer:
            for number, (payer, payee) in zip(itertools.islice(self._numbers, count), people, strict=False):
                transfer = Transfer(f"{self._name}-{number}", payer, payee, 10)
                producer.send(TRANSFER, transfer.to_json(), partition=number % PARTITIONS)

    def wait_until_done(self) -> None:
        self.stage.wait_until_consumed(GROUP_ID, TRANSFER)

    def account(self) -> Account:
        ordered = [transfer_of(record.value).number for record in self.stage.read(TRANSFER)]
        updates = [balance_update_of(record.value) for record in self.stage.read(BALANCE_UPDATE)]
        kinds = {kind: [one.transfer for one in updates if one.kind == kind] for kind in ("debit", "credit")}
        return balance(ordered, kinds)

    def balances(self) -> dict[str, int]:
        balances: Counter[str] = Counter()
        for record in self.stage.read(BALANCE_UPDATE):
            update = balance_update_of(record.value)
            balances[update.account] += update.amount if update.kind == "credit" else -update.amount
        return dict(balances)


def play(stage: Stage, version: str) -> tuple[Account, int]:
    """What was booked, and how much money there is more or less than before."""
    bank = Bank(stage, version)
    instances = [bank.start(kill_at="debit sent:2"), bank.start(kill_at="credit sent:3"), bank.start()]
    stage.wait_until_shared_out(instances)
    bank.order(18)
    for struck in instances[:2]:
        struck.wait_until_killed()
        bank.start()
    bank.order(18)
    bank.wait_until_done()
    stage.stop_all()
    return bank.account(), sum(bank.balances().values())


def main() -> None:
    arguments = story_arguments(__doc__, version=list(VERSIONS))
    versions = [arguments.version] if arguments.version else list(VERSIONS)
    with open_stage(arguments.bootstrap_servers) as stage:
        played = {version: play(stage, version) for version in versions}
    more = {version: {"balance": f"{surplus:+d}" if surplus else "0"} for version, (_, surplus) in played.items()}
    print_table({version: account for version, (account, _) in played.items()}, more=more)


if __name__ == "__main__":
    main()
