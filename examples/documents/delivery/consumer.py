"""Handles each number once it was read, and commits its offset before that, after it, or together with it.

To handle a number is to send it on to `delivered`.
"""

from examples.documents import program
from fencepost.client import Consumer, ConsumerRecord, Producer

SOURCE, TARGET = "delivery", "delivered"
GROUP_ID = "delivery-reader"


def at_most_once(record: ConsumerRecord, consumer: Consumer, producer: Producer) -> None:
    consumer.commit_sync({record.topic_partition: record.offset + 1})
    program.reach("between")
    producer.send(TARGET, record.value, partition=0).result()


def at_least_once(record: ConsumerRecord, consumer: Consumer, producer: Producer) -> None:
    producer.send(TARGET, record.value, partition=0).result()
    program.reach("between")
    consumer.commit_sync({record.topic_partition: record.offset + 1})


def exactly_once(record: ConsumerRecord, consumer: Consumer, producer: Producer) -> None:
    with producer.transaction() as transaction:
        transaction.send(TARGET, record.value, partition=0).result()
        program.reach("between")
        transaction.send_offsets(consumer, {record.topic_partition: record.offset + 1})


HANDLERS = {"at-most-once": at_most_once, "at-least-once": at_least_once, "exactly-once": exactly_once}


def main() -> None:
    parser = program.parser(__doc__)
    parser.add_argument("--semantics", choices=list(HANDLERS), required=True)
    arguments = program.start(parser)
    is_transactional = arguments.semantics == "exactly-once"
    servers = arguments.bootstrap_servers
    with (
        Producer(servers, transactional_id=GROUP_ID if is_transactional else None) as producer,
        Consumer(servers, group_id=GROUP_ID, auto_offset_reset="earliest", **program.membership(arguments)) as consumer,
    ):
        if is_transactional:
            producer.init_transactions()
        consumer.subscribe([SOURCE], on_assigned=program.say_assigned)
        while program.is_running():
            for record in consumer.poll(0.1):
                HANDLERS[arguments.semantics](record, consumer, producer)


if __name__ == "__main__":
    main()
