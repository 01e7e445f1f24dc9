"""Writes a debit with one producer and the credit that belongs to it with another.

`--transactions two`: each producer commits its own. `--transactions one`: a transaction is a transactional id, a
producer id and an epoch, and whoever is told these three can write in it. `TransactionControl` fetches and ends it, two
`RawProducer`s write, each on its own connection and partition; they could be processes on other machines.
"""

from contextlib import closing

from examples.documents import program
from fencepost.client import Producer, TopicPartition
from fencepost.client.cluster import Cluster
from fencepost.client.raw_producer import RawProducer
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Deadline
from fencepost.client.transaction_control import TransactionControl
from fencepost.client.values import ProducerIdentity
from fencepost.records.builder import build_batch
from fencepost.records.record import Record

PATIENCE_S = 60.0
TIMEOUT_MS = 60_000


def pay_in_two(servers: str, name: str, topics: tuple[str, str], numbers: range) -> None:
    with (
        Producer(servers, transactional_id=f"{name}-debit") as debiting,
        Producer(servers, transactional_id=f"{name}-credit") as crediting,
    ):
        for producer in (debiting, crediting):
            producer.init_transactions()
        for number in numbers:
            with debiting.transaction() as debit:
                debit.send(topics[0], f"transfer-{number}".encode())
            program.reach("half way")
            with crediting.transaction() as credit:
                credit.send(topics[1], f"transfer-{number}".encode())


def pay_in_one(servers: str, name: str, topics: tuple[str, str], numbers: range) -> None:
    where = [TopicPartition(topic, 0) for topic in topics]
    with closing(Cluster(servers, ClientSettings())) as cluster:
        for topic in topics:
            cluster.topic(topic, Deadline(PATIENCE_S))
        control = TransactionControl(cluster, name)
        identity = control.init_producer_id(transaction_timeout_ms=TIMEOUT_MS, deadline=Deadline(PATIENCE_S))
        for number in numbers:
            if not control.uses_v2:
                control.add_partitions(identity, where, deadline=Deadline(PATIENCE_S))
            write(servers, name, where[0], number=number, identity=identity)
            program.reach("half way")
            write(servers, name, where[1], number=number, identity=identity)
            control.end_txn(identity, is_commit=True, deadline=Deadline(PATIENCE_S))
            # In either flow a new epoch for each transaction: sequences begin at 0 on every partition.
            identity = control.init_producer_id(transaction_timeout_ms=TIMEOUT_MS, deadline=Deadline(PATIENCE_S))


def write(servers: str, name: str, where: TopicPartition, *, number: int, identity: ProducerIdentity) -> None:
    batch = build_batch(
        [Record(value=f"transfer-{number}".encode())],
        producer_id=identity.producer_id,
        producer_epoch=identity.producer_epoch,
        base_sequence=0,
        is_transactional=True,
    )
    with RawProducer(servers, identity=identity, transactional_id=name) as writer:
        writer.produce([(where, batch)], timeout_s=PATIENCE_S)


def main() -> None:
    parser = program.parser(__doc__)
    for name in ("--debits", "--credits", "--transactional-id"):
        parser.add_argument(name, required=True)
    parser.add_argument("--transactions", choices=["one", "two"], required=True)
    parser.add_argument("--begin", type=int, default=0)
    parser.add_argument("--end", type=int, required=True)
    arguments = program.start(parser)
    pay = pay_in_one if arguments.transactions == "one" else pay_in_two
    topics = (arguments.debits, arguments.credits)
    pay(arguments.bootstrap_servers, arguments.transactional_id, topics, range(arguments.begin, arguments.end))


if __name__ == "__main__":
    main()
