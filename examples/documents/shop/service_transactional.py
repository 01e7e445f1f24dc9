"""The shop service with transactions: invoice, shipment and the offset of the purchase are there together, or none.

Every instance has a transactional id of its own, the same after each restart. The offsets carry who this consumer is in
its group, so the coordinator refuses them from an instance that was replaced, whatever its transactional id.
"""

from examples.documents import program
from examples.documents.shop.purchases import GROUP_ID, INVOICES, PURCHASES, SHIPMENTS, Invoice, Purchase, Shipment
from fencepost.client import Consumer, ConsumerRecord, Producer
from fencepost.client.exceptions import AbortableError


def main() -> None:
    parser = program.parser(__doc__)
    parser.add_argument("--transactional-id", required=True)
    parser.add_argument("--transaction-timeout-ms", type=int, default=60_000)
    parser.add_argument("--give-up-after-s", type=float, default=60, help="how long a call is tried")
    arguments = program.start(parser)
    servers = arguments.bootstrap_servers
    with (
        Producer(
            servers,
            transactional_id=arguments.transactional_id,
            transaction_timeout_ms=arguments.transaction_timeout_ms,
            max_block_ms=int(arguments.give_up_after_s * 1000),
        ) as producer,
        Consumer(servers, group_id=GROUP_ID, auto_offset_reset="earliest", **program.membership(arguments)) as consumer,
    ):
        producer.init_transactions()
        consumer.subscribe([PURCHASES], on_assigned=program.say_assigned, on_revoked=program.say_revoked)
        while program.is_running():
            for record in consumer.poll(0.2):
                try:
                    process(record, producer, consumer)
                except AbortableError as problem:
                    program.say(f"Error while processing purchase: {problem}")
                    producer.abort_transaction()
                    consumer.seek_to_committed()
                    break


def process(record: ConsumerRecord, producer: Producer, consumer: Consumer) -> None:
    purchase = Purchase.from_json(record.value)
    producer.begin_transaction()
    invoice = producer.send(INVOICES, Invoice.of(purchase).to_json())
    invoice.result()  # only so that a strike between the two finds the invoice in the log
    program.reach("invoice sent")
    producer.send(SHIPMENTS, Shipment.of(purchase).to_json()).result()
    program.reach("shipment sent")
    offsets = {record.topic_partition: record.offset + 1}
    producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
    producer.commit_transaction()
    program.say(f"Successfully processed purchase event: {purchase}")


if __name__ == "__main__":
    main()
