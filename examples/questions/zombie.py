"""When does a zombie find out: at beginTransaction(), at send(), at commitTransaction()? And may it abort then?

Two producers are started with a transactional id each, and replaced by a second one with the same id. Then the old
ones go on: one begins a transaction, the other commits the one that it had open.
"""

from collections.abc import Callable

from examples.documents.stage import story_arguments
from examples.questions.asking import create_topic, fresh, open_cluster, print_rows
from fencepost.client import Admin, Producer
from fencepost.client.exceptions import ClientError


def outcome(call: Callable[[], object]) -> str:
    try:
        call()
    except ClientError as problem:
        return type(problem).__name__
    return "nothing happens"


def replace(servers: str, transactional_id: str) -> None:
    with Producer(servers, transactional_id=transactional_id) as successor:
        successor.init_transactions()


def main() -> None:
    arguments = story_arguments(__doc__)
    rows = []
    with open_cluster(arguments.bootstrap_servers) as servers, Admin(servers) as admin:
        topic = create_topic(admin, "zombie")
        idle, busy = fresh("idle"), fresh("busy")
        with Producer(servers, transactional_id=idle) as zombie:
            zombie.init_transactions()
            replace(servers, idle)
            rows += [
                ["had nothing open", "beginTransaction()", outcome(zombie.begin_transaction)],
                ["", "send()", outcome(lambda: zombie.send(topic, b"late").result())],
                ["", "abortTransaction()", outcome(zombie.abort_transaction)],
                ["", "its state then", zombie.state.name if zombie.state else "none"],
            ]
        with Producer(servers, transactional_id=busy) as zombie:
            zombie.init_transactions()
            zombie.begin_transaction()
            zombie.send(topic, b"open").result()
            replace(servers, busy)
            rows += [
                ["had one open", "commitTransaction()", outcome(zombie.commit_transaction)],
                ["", "abortTransaction()", outcome(zombie.abort_transaction)],
                ["", "its state then", zombie.state.name if zombie.state else "none"],
            ]
    print_rows(["the zombie", "calls", "and"], rows)


if __name__ == "__main__":
    main()
