"""Compaction: it looks at keys, not at transactions, and leaves a part of one.

Each transaction writes Alice's new balance and a friend's. Alice's next balance replaces her last one, and once the
topic is compacted the older transactions have only their other half.
"""

from examples.documents.accounts import Account, balance, print_table
from examples.documents.stage import Stage, story_arguments
from examples.documents.waiting import wait_for
from examples.limitations.ground import open_ground
from examples.questions.asking import fresh
from fencepost.client import Admin, Producer

COUNT = 8
ALICE, FILLER = b"alice", b"filler"
FILLER_BYTES = 16 * 1024
SETTINGS = {"log.retention.check.interval.ms": "100", "log.segment.bytes": "65536"}
"""Of the embedded broker: cleaning comes often, and segments are small, because the newest one is never cleaned."""
TOPIC_SETTINGS = {"cleanup.policy": "compact", "segment.ms": "100"}


def observe(stage: Stage, topic: str) -> Account:
    """Which halves of which transaction a reader from the beginning gets."""
    halves = {"alice": list[str](), "friend": list[str]()}
    for record in stage.read(topic):
        if record.key != FILLER:
            halves["alice" if record.key == ALICE else "friend"].append(record.value.decode())
    return balance([f"transaction-{number}" for number in range(COUNT)], halves)


def play(stage: Stage) -> dict[str, Account]:
    topic = fresh("balances")
    with Admin(stage.bootstrap_servers) as admin:
        admin.create_topic(topic, 1, 1, TOPIC_SETTINGS)
    stage.open_topics({topic: 1})
    with Producer(stage.bootstrap_servers, transactional_id=fresh("compaction")) as producer:
        producer.init_transactions()
        for number in range(COUNT):
            with producer.transaction() as transaction:
                value = f"transaction-{number}".encode()
                transaction.send(topic, value, key=ALICE)
                transaction.send(topic, value, key=f"friend-{number}".encode())
        written = observe(stage, topic)

    with Producer(stage.bootstrap_servers, linger_ms=0) as filling:

        def is_compacted() -> bool:
            filling.send(topic, bytes(FILLER_BYTES), key=FILLER).result()
            return observe(stage, topic).count_out == COUNT + 1

        wait_for("compaction", is_compacted)
    return {"as written": written, "compacted": observe(stage, topic)}


def main() -> None:
    arguments = story_arguments(__doc__)
    with open_ground(arguments.bootstrap_servers, SETTINGS) as stage:
        print_table(play(stage))


if __name__ == "__main__":
    main()
