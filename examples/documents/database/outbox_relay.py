"""Sends what stands in the outbox. How far it has come is committed with the messages, in their transaction.

The rows of the outbox are numbered, and the number of the last one that was sent is stored as the offset of a group:
then a relay that was killed goes on behind its last committed message, and sends nothing twice.
"""

from examples.documents import program
from examples.documents.database.orders import RELAY_GROUP_ID, TOPIC, open_database
from fencepost.client import Consumer, Producer, TopicPartition

WHERE = TopicPartition(TOPIC, 0)


def main() -> None:
    parser = program.parser(__doc__)
    parser.add_argument("--database", required=True)
    parser.add_argument("--until", type=int, required=True, help="end behind this row of the outbox")
    arguments = program.start(parser)
    database = open_database(arguments.database)
    with (
        Producer(arguments.bootstrap_servers, transactional_id=RELAY_GROUP_ID) as producer,
        Consumer(arguments.bootstrap_servers, group_id=RELAY_GROUP_ID) as positions,
    ):
        producer.init_transactions()
        committed = positions.committed([WHERE])[WHERE]
        sent = committed.offset if committed is not None else 0
        while sent < arguments.until:
            query = "SELECT number, message FROM outbox WHERE number > ? ORDER BY number LIMIT 3"
            for number, message in database.execute(query, [sent]).fetchall():
                with producer.transaction() as transaction:
                    transaction.send(TOPIC, message.encode(), partition=0).result()
                    program.reach("message sent")
                    transaction.send_offsets_to_transaction({WHERE: number}, RELAY_GROUP_ID)
                sent = number


if __name__ == "__main__":
    main()
