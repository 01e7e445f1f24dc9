"""The records of the money transfer, as JSON: who gives how much to whom, and what that means for one account."""

import json
from typing import NamedTuple

TRANSFER, BALANCE_UPDATE = "transfer", "balance-update"
GROUP_ID = "fund-transfer"


class Transfer(NamedTuple):
    number: str
    payer: str
    payee: str
    amount: int

    def to_json(self) -> bytes:
        return json.dumps(self._asdict()).encode()

    @property
    def debit(self) -> "BalanceUpdate":
        return BalanceUpdate(self.number, self.payer, "debit", self.amount)

    @property
    def credit(self) -> "BalanceUpdate":
        return BalanceUpdate(self.number, self.payee, "credit", self.amount)


class BalanceUpdate(NamedTuple):
    transfer: str
    account: str
    kind: str
    amount: int

    def to_json(self) -> bytes:
        return json.dumps(self._asdict()).encode()

    @property
    def key(self) -> bytes:
        """An account's updates stay in order: they are on one partition."""
        return self.account.encode()


def transfer_of(data: bytes) -> Transfer:
    return Transfer(**json.loads(data))


def balance_update_of(data: bytes) -> BalanceUpdate:
    return BalanceUpdate(**json.loads(data))
