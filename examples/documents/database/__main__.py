"""A row and a message are two independent transactions: what a crash between them leaves behind.

The order service is killed between the two and started again with the next order, as the caller was never told. The
outbox makes one transaction of them, in the database, and a second one, in the log, of the message and its number.
"""

from typing import Any

from examples.documents.accounts import Account, print_table
from examples.documents.database.orders import RELAY_GROUP_ID, TOPIC, open_database
from examples.documents.stage import Stage, open_stage, story_arguments

VERSIONS = ("row first", "message first", "outbox")
COUNT, STRUCK = 8, 4


def play(stage: Stage, version: str) -> Account:
    """`torn` are rows without a message and messages without a row."""
    stage.open_topics({TOPIC: 1})
    path = stage.folder / f"{version}.sqlite"
    given: dict[str, Any] = {"database": path, "first": {"outbox": "both"}.get(version, version.split()[0])}
    service = "examples.documents.database.order_service"
    stage.start(service, **given, end=COUNT, kill_at=f"first committed:{STRUCK}").wait_until_killed()
    stage.start(service, **given, begin=STRUCK, end=COUNT).wait_until_ended()
    if version == "outbox":
        stage.reset_group(RELAY_GROUP_ID, TOPIC)
        relay = "examples.documents.database.outbox_relay"
        stage.start(relay, database=path, until=COUNT, kill_at=f"message sent:{STRUCK}").wait_until_killed()
        stage.start(relay, database=path, until=COUNT).wait_until_ended()
    rows = [name for (name,) in open_database(path).execute("SELECT name FROM orders")]
    messages = [record.value.decode() for record in stage.read(TOPIC)]
    return Account(
        count_in=len(rows),
        count_out=len(messages),
        lost=len(set(rows) - set(messages)),
        repeated=len(messages) - len(set(messages)),
        torn=len(set(rows) ^ set(messages)),
    )


def main() -> None:
    arguments = story_arguments(__doc__, version=VERSIONS)
    with open_stage(arguments.bootstrap_servers) as stage:
        versions = [arguments.version] if arguments.version else VERSIONS
        print_table({version: play(stage, version) for version in versions})


if __name__ == "__main__":
    main()
