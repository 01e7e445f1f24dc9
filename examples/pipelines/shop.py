"""The documents' shop: every purchase becomes one invoice and one shipment, together or not at all.

Records are JSON objects, as the documents' Jackson mapper writes them. The shipment's id is random, as in the
documents: that is safe, because a micro-batch is computed once and pinned before anything of it is published.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from fencepost.pipelines import parse_json, pipeline

PURCHASE = (
    "userId string not null, userFullName string, productId string not null, "
    "quantity int not null, totalPrice double not null"
)
ADDRESS = "SomeStreet 12/18, 00-006 Warsaw"
WITH_NULLS = {"ignoreNullFields": "false"}


@pipeline(name="shop", reads="purchases", writes=["invoices", "shipments", "purchases.dead-letters"])
def shop(purchases: DataFrame) -> dict[str, DataFrame]:
    purchases, unreadable = parse_json(purchases, PURCHASE)
    invoice = f.struct("parsed.userId", "parsed.productId", "parsed.quantity", "parsed.totalPrice")
    shipment = f.struct(
        f.uuid().alias("id"),
        "parsed.productId",
        "parsed.userFullName",
        f.lit(ADDRESS).alias("address"),
        "parsed.quantity",
    )
    return {
        "invoices": purchases.select("key", f.to_json(invoice, WITH_NULLS).alias("value")),
        "shipments": purchases.select("key", f.to_json(shipment, WITH_NULLS).alias("value")),
        "purchases.dead-letters": unreadable,
    }
