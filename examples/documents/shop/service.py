"""The shop service as the documents begin: read a purchase, send an invoice and a shipment, commit the offset.

With `--idempotent` its producer numbers what it sends. That is the only difference.
"""

from examples.documents import program
from examples.documents.shop.purchases import GROUP_ID, INVOICES, PURCHASES, SHIPMENTS, Invoice, Purchase, Shipment
from fencepost.client import Consumer, Producer
from fencepost.client.exceptions import Timeout


def main() -> None:
    parser = program.parser(__doc__)
    parser.add_argument("--idempotent", action="store_true")
    parser.add_argument("--give-up-after-s", type=float, default=60, help="how long a commit of offsets is tried")
    arguments = program.start(parser)
    servers = arguments.bootstrap_servers
    with (
        Producer(servers, acks="all", enable_idempotence=arguments.idempotent) as producer,
        Consumer(servers, group_id=GROUP_ID, auto_offset_reset="earliest", **program.membership(arguments)) as consumer,
    ):
        consumer.subscribe([PURCHASES], on_assigned=program.say_assigned, on_revoked=program.say_revoked)
        while program.is_running():
            for record in consumer.poll(0.2):
                purchase = Purchase.from_json(record.value)
                producer.send(INVOICES, Invoice.of(purchase).to_json()).result()
                program.reach("invoice sent")
                producer.send(SHIPMENTS, Shipment.of(purchase).to_json()).result()
                program.reach("shipment sent")
                # The documents call commitSync(), which commits all that was polled, this purchase or not yet.
                done = {record.topic_partition: record.offset + 1}
                try:
                    consumer.commit_sync(done, timeout=arguments.give_up_after_s)
                except Timeout as problem:
                    program.say(f"Error while processing purchase: {problem}")
                    raise
                program.say(f"Successfully processed purchase event: {purchase}")


if __name__ == "__main__":
    main()
