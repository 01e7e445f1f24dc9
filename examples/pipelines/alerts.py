"""One alert for every account that has paid more than its limit, ever: state of one's own with `transformWithState`.

What was paid by an account, and whether its alert is out, is kept by Spark between micro-batches under the same
guarantee as the output: no alert is lost, and none is sent twice. Needs the package protobuf.
"""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from fencepost.pipelines import parse_json, pipeline

UPDATE = "transfer string not null, account string not null, kind string not null, amount bigint not null"
LIMIT = 1000


class Spending(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self._paid = handle.getValueState("paid", "total bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803 - Spark's names
        before = self._paid.get()[0] if self._paid.exists() else 0
        after = before + sum(row.amount for row in rows)
        self._paid.update((after,))
        if before <= LIMIT < after:
            yield Row(account=key[0], limit=LIMIT)


@pipeline(name="alerts", reads="balance-update", writes=["account-alerts", "alerts.dead-letters"])
def alerts(updates: DataFrame) -> dict[str, DataFrame]:
    updates, unreadable = parse_json(updates, UPDATE)
    debits = updates.where("parsed.kind = 'debit'").selectExpr("parsed.account", "parsed.amount")
    over = debits.groupBy("account").transformWithState(Spending(), "account string, limit bigint", "Append", "None")
    alert = f.to_json(f.struct("account", "limit"))
    return {
        "account-alerts": over.select(f.col("account").alias("key"), alert.alias("value")),
        "alerts.dead-letters": unreadable,
    }
