"""Two inputs joined: an order and its payment, in whichever order they come, make one receipt.

A join of two streams keeps state: a row waits until its partner comes, at most an hour of event time.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from fencepost.pipelines import parse_json, pipeline

ORDER = "orderId string not null, product string not null"
PAYMENT = "orderId string not null, amount bigint not null"


@pipeline(name="payments", reads=["orders", "payments"], writes=["receipts", "payments.dead-letters"])
def payments(orders: DataFrame, paid: DataFrame) -> dict[str, DataFrame]:
    orders, bad_orders = parse_json(orders, ORDER)
    paid, bad_payments = parse_json(paid, PAYMENT)
    left = orders.select("parsed.*", f.col("timestamp").alias("ordered_at")).withWatermark("ordered_at", "1 hour")
    right = paid.select(
        f.col("parsed.orderId").alias("paid_order"), "parsed.amount", f.col("timestamp").alias("paid_at")
    )
    right = right.withWatermark("paid_at", "1 hour")
    is_partner = f.expr(
        "orderId = paid_order and paid_at between ordered_at - interval 1 hour and ordered_at + interval 1 hour"
    )
    receipts = left.join(right, is_partner)
    receipt = f.to_json(f.struct("orderId", "product", "amount"))
    return {
        "receipts": receipts.select(f.col("orderId").alias("key"), receipt.alias("value")),
        "payments.dead-letters": bad_orders.union(bad_payments),
    }
