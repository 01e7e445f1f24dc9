"""Charges a card for each purchase and writes a receipt, in one transaction with the offset of the purchase.

The charge is outside of Kafka. With `--has-key` it carries the topic, partition and offset of the purchase, and the
bank takes each of them once: the same record handled again has no second effect.
"""

import sqlite3

from examples.documents import program
from fencepost.client import Consumer, ConsumerRecord, Producer
from fencepost.client.exceptions import AbortableError


def main() -> None:
    parser = program.parser(__doc__)
    for name in ("--purchases", "--receipts", "--group-id", "--bank"):
        parser.add_argument(name, required=True)
    parser.add_argument("--has-key", action="store_true")
    arguments = program.start(parser)
    bank = sqlite3.connect(arguments.bank)
    bank.execute("CREATE TABLE IF NOT EXISTS charges (purchase TEXT, key TEXT UNIQUE)")
    servers, group_id = arguments.bootstrap_servers, arguments.group_id
    with (
        Producer(servers, transactional_id=group_id) as producer,
        Consumer(servers, group_id=group_id, auto_offset_reset="earliest", **program.membership(arguments)) as consumer,
    ):
        producer.init_transactions()
        consumer.subscribe([arguments.purchases])
        while program.is_running():
            for record in consumer.poll(0.2):
                program.say(f"Handling {record.value.decode()}")
                try:
                    with producer.transaction() as transaction:
                        charge(bank, record, has_key=arguments.has_key)
                        program.reach("charged")
                        transaction.send(arguments.receipts, record.value)
                        transaction.send_offsets(consumer, {record.topic_partition: record.offset + 1})
                except AbortableError as problem:
                    program.say(f"Aborted: {problem}")
                    break


def charge(bank: sqlite3.Connection, record: ConsumerRecord, *, has_key: bool) -> None:
    key = f"{record.topic_partition}@{record.offset}" if has_key else None
    with bank:
        bank.execute("INSERT OR IGNORE INTO charges VALUES (?, ?)", [record.value.decode(), key])


if __name__ == "__main__":
    main()
