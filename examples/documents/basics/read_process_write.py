"""Read, process, write: whatever a poll returns and the offsets behind it, in one transaction for all of it.

`--plain` sends and commits apart from each other.
"""

from examples.documents import program
from fencepost.client import Consumer, Producer

INPUT_TOPIC, OUTPUT_TOPIC = "inputTopic", "outputTopic"
GROUP_ID = "my-group-id"


def main() -> None:
    parser = program.parser(__doc__)
    parser.add_argument("--plain", action="store_true")
    arguments = program.start(parser)
    servers = arguments.bootstrap_servers
    with (
        Producer(servers, transactional_id=None if arguments.plain else "my-transactional-id") as producer,
        Consumer(servers, group_id=GROUP_ID, auto_offset_reset="earliest", **program.membership(arguments)) as consumer,
    ):
        if not arguments.plain:
            producer.init_transactions()
        consumer.subscribe([INPUT_TOPIC], on_assigned=program.say_assigned)
        while program.is_running():
            records = consumer.poll(0.2)
            if not records:
                continue
            if arguments.plain:
                for record in records:
                    producer.send(OUTPUT_TOPIC, record.value)
                producer.flush()
                program.reach("records sent")
                consumer.commit_sync()
            else:
                with producer.transaction() as transaction:
                    for record in records:
                        transaction.send(OUTPUT_TOPIC, record.value)
                    producer.flush()
                    program.reach("records sent")
                    transaction.send_offsets(consumer)


if __name__ == "__main__":
    main()
