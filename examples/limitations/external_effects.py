"""External side effects: what a stage does outside of Kafka is not in its transaction.

The stage charges a card for each purchase (a row at the bank, in a database) and writes a receipt, in one transaction
with the offset. It is killed between the charge and the commit, and started again: the receipt is written once, the
purchase is handled twice. `out` counts the charges.
"""

import sqlite3
from typing import Any

from examples.documents.accounts import Account, balance, print_table
from examples.documents.stage import Stage, story_arguments
from examples.limitations.ground import open_ground
from examples.questions.asking import fresh
from fencepost.client import Producer

COUNT, STRUCK = 8, 4
VERSIONS = ("charge", "charge with a key")


def play(stage: Stage, version: str) -> tuple[Account, dict[str, object]]:
    purchases, receipts, group_id = fresh("purchases"), fresh("receipts"), fresh("charging")
    stage.open_topics({purchases: 1, receipts: 1})
    bank = stage.folder / f"{version}.sqlite"
    sold = [f"purchase-{number}" for number in range(COUNT)]
    with Producer(stage.bootstrap_servers) as producer:
        for name in sold:
            producer.send(purchases, name.encode())
    given: dict[str, Any] = {"purchases": purchases, "receipts": receipts, "group_id": group_id, "bank": bank}
    has_key = version == "charge with a key" or None
    module = "examples.limitations.charging_stage"
    struck = stage.start(module, **given, has_key=has_key, kill_at=f"charged:{STRUCK}")
    struck.wait_until_killed()
    again = stage.start(module, **given, has_key=has_key)
    stage.wait_until_consumed(group_id, purchases)
    stage.stop_all()
    charged = [name for (name,) in sqlite3.connect(bank).execute("SELECT purchase FROM charges")]
    handled = (struck.said + again.said).count("Handling")
    return balance(sold, {"charge": charged}), {"handled": handled, "receipts": len(stage.read(receipts))}


def main() -> None:
    arguments = story_arguments(__doc__, version=VERSIONS)
    versions = [arguments.version] if arguments.version else VERSIONS
    with open_ground(arguments.bootstrap_servers) as stage:
        played = {version: play(stage, version) for version in versions}
    print_table(
        {version: account for version, (account, _) in played.items()},
        more={version: counts for version, (_, counts) in played.items()},
    )


if __name__ == "__main__":
    main()
