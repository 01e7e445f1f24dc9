"""The documents' money transfer: Alice gives Bob 10: a debit of Alice's account and a credit of Bob's, together.

Both records go to `balance-update`, keyed by account, so that one account's updates stay in order on one partition.
Fields are those of the stages without Spark in `examples/documents/transfer`; either side can be replaced by the
other.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from fencepost.pipelines import parse_json, pipeline

TRANSFER = "number string not null, payer string not null, payee string not null, amount bigint not null"


@pipeline(name="transfer", reads="transfer", writes=["balance-update", "transfer.dead-letters"])
def transfer(transfers: DataFrame) -> dict[str, DataFrame]:
    transfers, unreadable = parse_json(transfers, TRANSFER)
    both = f.array(balance_update("debit", account="payer"), balance_update("credit", account="payee"))
    updates = transfers.select(f.explode(both).alias("update"))
    return {
        "balance-update": updates.select(f.col("update.account").alias("key"), f.to_json("update").alias("value")),
        "transfer.dead-letters": unreadable,
    }


def balance_update(kind: str, *, account: str) -> Column:
    return f.struct(
        f.col("parsed.number").alias("transfer"),
        f.col(f"parsed.{account}").alias("account"),
        f.lit(kind).alias("kind"),
        f.col("parsed.amount").alias("amount"),
    )
