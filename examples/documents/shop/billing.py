"""Downstream of the shop: reads invoices and asks for each one's payment.

Plain, it reads whatever is in the log and commits an offset behind each payment. With `--exactly-once` it reads what
is committed, and each payment and the offset of its invoice are one transaction.
"""

from examples.documents import program
from examples.documents.shop.purchases import BILLING_GROUP_ID, INVOICES, PAYMENTS
from fencepost.client import Consumer, ConsumerRecord, Producer


def plain(record: ConsumerRecord, consumer: Consumer, producer: Producer) -> None:
    producer.send(PAYMENTS, record.value).result()
    program.reach("payment sent")
    consumer.commit_sync({record.topic_partition: record.offset + 1})


def exactly_once(record: ConsumerRecord, consumer: Consumer, producer: Producer) -> None:
    with producer.transaction() as transaction:
        transaction.send(PAYMENTS, record.value).result()
        program.reach("payment sent")
        transaction.send_offsets(consumer, {record.topic_partition: record.offset + 1})


def main() -> None:
    parser = program.parser(__doc__)
    parser.add_argument("--exactly-once", action="store_true")
    arguments = program.start(parser)
    servers, is_exact = arguments.bootstrap_servers, arguments.exactly_once
    with (
        Producer(servers, transactional_id=BILLING_GROUP_ID if is_exact else None) as producer,
        Consumer(
            servers,
            group_id=BILLING_GROUP_ID,
            auto_offset_reset="earliest",
            isolation_level="read_committed" if is_exact else "read_uncommitted",
            **program.membership(arguments),
        ) as consumer,
    ):
        if is_exact:
            producer.init_transactions()
        consumer.subscribe([INVOICES], on_assigned=program.say_assigned)
        while program.is_running():
            for record in consumer.poll(0.2):
                (exactly_once if is_exact else plain)(record, consumer, producer)


if __name__ == "__main__":
    main()
