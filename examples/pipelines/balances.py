"""Balances by account, from the money transfer's output: a stateful pipeline under the same guarantee.

Each micro-batch writes the balances that it changed, keyed by account: the newest record of a key is that account's
balance.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from fencepost.pipelines import parse_json, pipeline

UPDATE = "transfer string not null, account string not null, kind string not null, amount bigint not null"


@pipeline(
    name="balances", reads="balance-update", writes=["balances", "balance-update.dead-letters"], output_mode="update"
)
def balances(updates: DataFrame) -> dict[str, DataFrame]:
    updates, unreadable = parse_json(updates, UPDATE)
    amount = f.col("parsed.amount")
    signed = f.when(f.col("parsed.kind") == "credit", amount).otherwise(-amount)
    by_account = updates.groupBy(f.col("parsed.account").alias("account")).agg(
        f.sum(signed).alias("balance"), f.count("*").alias("updates")
    )
    balance = f.to_json(f.struct("account", "balance", "updates"))
    return {
        "balances": by_account.select(f.col("account").alias("key"), balance.alias("value")),
        "balance-update.dead-letters": unreadable,
    }
