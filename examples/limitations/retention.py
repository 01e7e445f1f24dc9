"""Retention: old records go by age and size, in the middle of a transaction too.

One transaction writes more than the topic may keep. A reader who comes in time gets all of it, one who comes later only
its end.
"""

from examples.documents.accounts import Account, balance, print_table
from examples.documents.stage import Stage, story_arguments
from examples.documents.waiting import wait_for
from examples.limitations.ground import open_ground
from examples.questions.asking import fresh, read_all
from fencepost.client import Admin, Producer

COUNT, KEPT = 8, 2
RECORD_BYTES = 400_000
SETTINGS = {"log.retention.check.interval.ms": "100"}
"""Of the embedded broker. Kafka looks every five minutes unless it is told otherwise."""
KEEP_ALL, SEGMENT_BYTES = "-1", 1_048_576


def observe(stage: Stage, topic: str) -> Account:
    records = read_all(stage.bootstrap_servers, stage.partitions(topic))
    return balance([str(number) for number in range(COUNT)], {"record": [record.key.decode() for record in records]})


def play(stage: Stage) -> dict[str, Account]:
    topic = fresh("retention")
    with Admin(stage.bootstrap_servers) as admin:
        admin.create_topic(topic, 1, 1, {"retention.bytes": KEEP_ALL, "segment.bytes": str(SEGMENT_BYTES)})
        stage.open_topics({topic: 1})
        with Producer(stage.bootstrap_servers, transactional_id=fresh("retention"), batch_size=0) as producer:
            producer.init_transactions()
            with producer.transaction() as transaction:
                for number in range(COUNT):
                    transaction.send(topic, bytes(RECORD_BYTES), key=str(number).encode()).result()
        in_time = observe(stage, topic)
        admin.alter_topic_settings(topic, {"retention.bytes": str(KEPT * RECORD_BYTES)})

        wait_for("retention", lambda: observe(stage, topic).count_out <= KEPT)
        return {"a reader in time": in_time, "a late reader": observe(stage, topic)}


def main() -> None:
    arguments = story_arguments(__doc__)
    with open_ground(arguments.bootstrap_servers, SETTINGS) as stage:
        print_table(play(stage))


if __name__ == "__main__":
    main()
