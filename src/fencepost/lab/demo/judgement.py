"""What arrived: every purchase must have one invoice and one shipment, visible to a `read_committed` reader."""

from collections import Counter
from dataclasses import dataclass

from fencepost.client import read_arrow
from fencepost.lab.demo import purchases


@dataclass(frozen=True)
class Judgement:
    """Counted over what a reader sees in the end."""

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
    bought = _by_purchase(bootstrap_servers, purchases.TOPIC)
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
