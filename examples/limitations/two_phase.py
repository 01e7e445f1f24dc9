"""A database in the transaction: prepared in Kafka, decided by the database (KIP-939), which our broker offers.

The order service writes a message and prepares it, then commits a row together with the identity of the prepared
transaction, then commits the message. It is killed between these steps. A new instance asks for the prepared
transaction, commits it if the database knows its identity, and aborts it otherwise: the database alone decides.
"""

from contextlib import closing
from typing import Any

from examples.documents.accounts import Account, print_table
from examples.documents.stage import Stage, story_arguments
from examples.limitations.ground import open_ground
from examples.limitations.prepared_orders import TWO_PHASE_SINCE, PreparedTransactions, open_orders
from examples.questions.asking import fresh
from fencepost.client.cluster import Cluster
from fencepost.client.settings import ClientSettings

COUNT, STRUCK = 8, 4
STRIKES = {"killed when prepared": "prepared", "killed when decided": "decided"}
SETTINGS = {"transaction.two.phase.commit.enable": "true"}


def play(stage: Stage, step: str) -> Account:
    """`torn` are rows without a message and messages without a row."""
    topic = fresh("orders")
    stage.open_topics({topic: 1})
    path = stage.folder / f"{step}.sqlite"
    given: dict[str, Any] = {"topic": topic, "database": path, "transactional_id": fresh("order-service"), "end": COUNT}
    module = "examples.limitations.prepared_orders"
    stage.start(module, **given, kill_at=f"{step}:{STRUCK}").wait_until_killed()
    stage.start(module, **given).wait_until_ended()
    rows = [name for (name,) in open_orders(path).execute("SELECT name FROM orders")]
    messages = [record.value.decode() for record in stage.read(topic)]
    return Account(
        count_in=COUNT,
        count_out=len(messages),
        lost=COUNT - len(set(messages)),
        repeated=len(messages) - len(set(messages)),
        torn=len(set(rows) ^ set(messages)),
    )


def main() -> None:
    arguments = story_arguments(__doc__)
    with open_ground(arguments.bootstrap_servers, SETTINGS) as stage:
        with closing(Cluster(stage.bootstrap_servers, ClientSettings())) as cluster:
            is_offered = PreparedTransactions(cluster, fresh("order-service")).is_offered
        if is_offered:
            print_table({name: play(stage, step) for name, step in STRIKES.items()})
        else:
            print(f"this cluster does not offer it (InitProducerId v{TWO_PHASE_SINCE})")


if __name__ == "__main__":
    main()
