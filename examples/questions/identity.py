"""Which producer id and which epoch does a producer get: at its start, at a commit, after a restart?

Also: on which partition of the transaction log its transactional id lives, and whether it can do without one.
"""

from examples.documents.stage import story_arguments
from examples.questions.asking import (
    FLOWS,
    create_topic,
    flows,
    fresh,
    open_cluster,
    partitions_of,
    print_rows,
    read_all,
)
from fencepost.client import Admin, Producer, TopicPartition
from fencepost.client.exceptions import IllegalState
from fencepost.client.values import ProducerIdentity
from fencepost.java_hash import partition_for

TRANSACTION_LOG = "__transaction_state"


class Life:
    """The epochs of one transactional id. Its producer id stays the same; if it does not, that is an error."""

    def __init__(self, servers: str, topic: str) -> None:
        self._servers = servers
        self._topic = topic
        self.transactional_id = fresh("identity")
        self.epochs: dict[str, int] = {}
        self._first_id = -1

    def note(self, event: str, identity: ProducerIdentity | None) -> None:
        if identity is None:
            raise RuntimeError("a producer without an identity")
        self._first_id = identity.producer_id if self._first_id < 0 else self._first_id
        if identity.producer_id != self._first_id:
            raise RuntimeError(f"another producer id {event}")
        self.epochs[event] = identity.producer_epoch

    def open_producer(self) -> Producer:
        producer = Producer(self._servers, transactional_id=self.transactional_id)
        producer.init_transactions()
        return producer

    def live(self) -> None:
        first = self.open_producer()
        self.note("initTransactions() of a new transactional id", first.identity)
        first.begin_transaction()
        first.send(self._topic, b"committed")
        first.commit_transaction()
        self.note("after it has committed a transaction", first.identity)
        second = self.open_producer()
        self.note("a second instance, with nothing open", second.identity)
        second.begin_transaction()
        second.send(self._topic, b"left open").result()
        third = self.open_producer()
        self.note("a third instance, while a transaction is open", third.identity)
        for producer in (first, second, third):
            producer.close()


def count_plain_ids(servers: str, admin: Admin) -> int:
    """How many producer ids two producers without a transactional id have between them."""
    where = TopicPartition(create_topic(admin, "identity"), 0)
    for _ in range(2):
        with Producer(servers) as producer:
            producer.send(where.topic, b"record").result()
    return len({state.producer_id for state in admin.describe_producers(where)})


def begin_without_transactional_id(servers: str) -> str:
    with Producer(servers) as producer:
        try:
            producer.begin_transaction()
        except IllegalState as problem:
            return type(problem).__name__
    return "begun"


def log_partitions(servers: str, admin: Admin, transactional_id: str) -> set[int]:
    """The partitions of the transaction log that have a record of this id."""
    log = read_all(servers, partitions_of(admin, TRANSACTION_LOG))
    return {record.partition for record in log if transactional_id.encode() in (record.key or b"")}


def questions(servers: str, admin: Admin, transactional_id: str) -> list[list[object]]:
    hashed = partition_for(transactional_id, len(partitions_of(admin, TRANSACTION_LOG)))
    is_where_hashed = log_partitions(servers, admin, transactional_id) == {hashed}
    return [
        ["its record is on partition hash(id) % partitions", "yes" if is_where_hashed else "no"],
        ["producer ids of two producers without a transactional id", count_plain_ids(servers, admin)],
        ["beginTransaction() without a transactional id", begin_without_transactional_id(servers)],
    ]


def main() -> None:
    arguments = story_arguments(__doc__)
    epochs: dict[str, dict[str, int]] = {}
    for level in flows(arguments.bootstrap_servers):
        with (
            open_cluster(arguments.bootstrap_servers, {"transaction.version": level}) as servers,
            Admin(servers) as admin,
        ):
            life = Life(servers, create_topic(admin, "identity"))
            life.live()
            epochs[f"epoch, {FLOWS[level]}"] = life.epochs
            answers = questions(servers, admin, life.transactional_id)
    rows = [[event, *(found[event] for found in epochs.values())] for event in life.epochs]
    print_rows(["one transactional id, one producer id", *epochs], rows)
    print()
    print_rows(["question", "answer"], answers)


if __name__ == "__main__":
    main()
