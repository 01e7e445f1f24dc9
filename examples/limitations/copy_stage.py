"""Copies records from one cluster to another, and remembers how far it has come.

`--first output` commits the copy on the target, then the offset on the source; `--first offset` the other way round.
`--first ledger` writes the offset as a record to the target too, in the transaction of the copy, and reads it back when
it starts: the target alone knows how far the copying has come.
"""

import argparse

from examples.documents import program
from fencepost.client import Consumer, ConsumerRecord, Producer, TopicPartition

GROUP_ID = "copy-stage"


def main() -> None:
    parser = program.parser(__doc__)
    parser.add_argument("--source", required=True, help="bootstrap servers of the cluster to read")
    for topic in ("--input", "--copy", "--ledger"):
        parser.add_argument(topic, required=True)
    parser.add_argument("--first", choices=["output", "offset", "ledger"], required=True)
    parser.add_argument("--until", type=int, required=True, help="the offset to stop at")
    arguments = program.start(parser)
    where = TopicPartition(arguments.input, 0)
    with (
        Producer(arguments.bootstrap_servers, transactional_id=f"copy-{arguments.input}") as producer,
        Consumer(arguments.source, group_id=GROUP_ID) as consumer,
    ):
        producer.init_transactions()
        consumer.assign([where])
        if arguments.first == "ledger":
            begin = last_token(arguments.bootstrap_servers, arguments.ledger)
        else:
            committed = consumer.committed([where])[where]
            begin = 0 if committed is None else committed.offset
        consumer.seek(where, begin)
        while consumer.position(where) < arguments.until:
            for record in consumer.poll(0.2):
                copy(record, producer, consumer, arguments)


def copy(record: ConsumerRecord, producer: Producer, consumer: Consumer, arguments: argparse.Namespace) -> None:
    behind = record.offset + 1
    if arguments.first == "offset":
        consumer.commit_sync({record.topic_partition: behind})
        program.reach("between")
    with producer.transaction() as transaction:
        transaction.send(arguments.copy, record.value).result()
        if arguments.first == "ledger":
            transaction.send(arguments.ledger, str(behind).encode()).result()
            program.reach("between")
    if arguments.first == "output":
        program.reach("between")
        consumer.commit_sync({record.topic_partition: behind})


def last_token(bootstrap_servers: str, ledger_topic: str) -> int:
    """The offset in the last committed record of the ledger. Called after `init_transactions`: nothing is open."""
    where = TopicPartition(ledger_topic, 0)
    token = 0
    with Consumer(bootstrap_servers) as reader:
        reader.assign([where])
        reader.seek(where, 0)
        end = reader.end_offsets([where])[where]
        while reader.position(where) < end:
            for record in reader.poll(0.1):
                token = int(record.value)
    return token


if __name__ == "__main__":
    main()
