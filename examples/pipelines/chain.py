"""A chain of three stages in one file: transfers, the balances that follow from them, and the accounts that are
overdrawn.

`fencepost run` starts all three, and each hop is exactly once: transfer -> balance-update -> balances -> overdrawn.
"""

from balances import balances
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from transfer import transfer

from fencepost.pipelines import parse_json, pipeline

__all__ = ["balances", "overdrawn", "transfer"]

BALANCE = "account string not null, balance bigint not null, updates bigint not null"


@pipeline(name="overdrawn", reads="balances", writes=["overdrawn", "balances.dead-letters"])
def overdrawn(changed: DataFrame) -> dict[str, DataFrame]:
    changed, unreadable = parse_json(changed, BALANCE)
    in_debt = changed.where(f.col("parsed.balance") < 0)
    return {"overdrawn": in_debt.select("key", "value"), "balances.dead-letters": unreadable}
