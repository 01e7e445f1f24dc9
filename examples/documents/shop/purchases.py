"""The records of the shop, with the documents' fields, as JSON."""

import json
import uuid
from dataclasses import asdict, dataclass
from typing import Any, Self

PURCHASES, INVOICES, SHIPMENTS = "purchases", "invoices", "shipments"
GROUP_ID = "purchasesConsumerGroupId"
PAYMENTS = "payments"
BILLING_GROUP_ID = "billing"


@dataclass(frozen=True)
class Event:
    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, data: Any) -> Self:
        return cls(**json.loads(data))


@dataclass(frozen=True)
class Purchase(Event):
    userId: str  # noqa: N815 - the documents' names
    productId: str  # noqa: N815
    userFullName: str  # noqa: N815
    quantity: int
    totalPrice: float  # noqa: N815


@dataclass(frozen=True)
class Invoice(Event):
    userId: str  # noqa: N815
    productId: str  # noqa: N815
    quantity: int
    totalPrice: float  # noqa: N815

    @classmethod
    def of(cls, purchase: Purchase) -> Self:
        return cls(purchase.userId, purchase.productId, purchase.quantity, purchase.totalPrice)


@dataclass(frozen=True)
class Shipment(Event):
    id: str
    productId: str  # noqa: N815
    userFullName: str  # noqa: N815
    address: str
    quantity: int

    @classmethod
    def of(cls, purchase: Purchase) -> Self:
        address = "SomeStreet 12/18, 00-006 Warsaw"
        return cls(str(uuid.uuid4()), purchase.productId, purchase.userFullName, address, purchase.quantity)
