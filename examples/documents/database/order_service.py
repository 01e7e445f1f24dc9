"""Takes orders: a row in the database and a message, each in a transaction of its own, because they cannot share one.

`--first row` commits the row and then the message, `--first message` the other way round. `--first both` writes the
message into the database too, in the transaction of the row; `outbox_relay.py` sends it from there.
"""

import sqlite3

from examples.documents import program
from examples.documents.database.orders import TOPIC, open_database
from fencepost.client import Producer


def main() -> None:
    parser = program.parser(__doc__)
    parser.add_argument("--database", required=True)
    parser.add_argument("--first", choices=["row", "message", "both"], default="row")
    parser.add_argument("--begin", type=int, default=0)
    parser.add_argument("--end", type=int, required=True)
    arguments = program.start(parser)
    database = open_database(arguments.database)
    with Producer(arguments.bootstrap_servers, transactional_id="order-service") as producer:
        producer.init_transactions()
        for number in range(arguments.begin, arguments.end):
            name = f"order-{number}"
            if arguments.first == "row":
                insert_row(database, name)
                program.reach("first committed")
                send_message(producer, name)
            elif arguments.first == "message":
                send_message(producer, name)
                program.reach("first committed")
                insert_row(database, name)
            else:
                with database:
                    database.execute("INSERT INTO orders VALUES (?)", [name])
                    database.execute("INSERT INTO outbox (message) VALUES (?)", [name])
                program.reach("first committed")


def insert_row(database: sqlite3.Connection, name: str) -> None:
    with database:
        database.execute("INSERT INTO orders VALUES (?)", [name])


def send_message(producer: Producer, name: str) -> None:
    with producer.transaction() as transaction:
        transaction.send(TOPIC, name.encode(), partition=0)


if __name__ == "__main__":
    main()
