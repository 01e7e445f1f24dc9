"""Takes orders, each a row in a database and a message, by two-phase commit with the database as the one who decides.

A transaction that was begun with two-phase commit is not ended by any timeout, nor by a new instance that asks to keep
it. The row is committed with the identity of the transaction that holds the message, so a new instance can tell: an
identity that the database knows is to be committed, any other to be aborted.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from examples.documents import program
from fencepost.client import TopicPartition
from fencepost.client.cluster import Cluster, CoordinatorType
from fencepost.client.error_table import error_of
from fencepost.client.net.connection import Connection
from fencepost.client.raw_producer import RawProducer
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Deadline
from fencepost.client.transaction_control import TransactionControl
from fencepost.client.values import NO_IDENTITY, ProducerIdentity
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

INIT_PRODUCER_ID, TWO_PHASE_SINCE = 22, 6
PATIENCE_S = 60.0
TIMEOUT_MS = 60_000


def open_orders(path: str | Path) -> sqlite3.Connection:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE IF NOT EXISTS orders (name TEXT, producer_id INTEGER, producer_epoch INTEGER)")
    return database


class PreparedTransactions:
    """Messages that wait, prepared, for somebody's decision."""

    def __init__(self, cluster: Cluster, transactional_id: str) -> None:
        self._cluster = cluster
        self._transactional_id = transactional_id
        self._control = TransactionControl(cluster, transactional_id)
        self.identity = NO_IDENTITY

    @property
    def is_offered(self) -> bool:
        with closing(self._connect()) as connection:
            _, highest = connection.versions.ranges[INIT_PRODUCER_ID]
        return highest >= TWO_PHASE_SINCE

    def take_over(self) -> ProducerIdentity:
        """Fence earlier instances. Returns the identity of the transaction that one of them left prepared, if any."""
        request = InitProducerIdRequest(self._transactional_id, TIMEOUT_MS, enable2_pc=True, keep_prepared_txn=True)
        with closing(self._connect()) as connection:
            answer = connection.request(request, InitProducerIdResponse, version=TWO_PHASE_SINCE)
        if answer.error_code:
            raise error_of(answer.error_code, "InitProducerId", what=self._transactional_id)
        self.identity = ProducerIdentity(answer.producer_id, answer.producer_epoch)
        return ProducerIdentity(answer.ongoing_txn_producer_id, answer.ongoing_txn_producer_epoch)

    def _connect(self) -> Connection:
        """To the coordinator. No stable version of the protocol has two phases: `Cluster.call` would not choose it."""
        deadline = Deadline(PATIENCE_S)
        return self._cluster.connect(
            self._cluster.coordinator(CoordinatorType.TRANSACTION, self._transactional_id, deadline)
        )

    def prepare(self, servers: str, where: TopicPartition, value: bytes) -> ProducerIdentity:
        """The message is stored and waits. What it waits for is known by this identity."""
        batch = build_batch(
            [Record(value=value)],
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.producer_epoch,
            base_sequence=0,
            is_transactional=True,
        )
        with RawProducer(servers, identity=self.identity, transactional_id=self._transactional_id) as producer:
            producer.produce([(where, batch)], timeout_s=PATIENCE_S)
        return self.identity

    def end(self, *, is_commit: bool) -> None:
        self.identity = self._control.end_txn(self.identity, is_commit=is_commit, deadline=Deadline(PATIENCE_S))


def main() -> None:
    parser = program.parser(__doc__)
    for name in ("--topic", "--database", "--transactional-id"):
        parser.add_argument(name, required=True)
    parser.add_argument("--end", type=int, required=True)
    arguments = program.start(parser)
    database, where = open_orders(arguments.database), TopicPartition(arguments.topic, 0)
    with closing(Cluster(arguments.bootstrap_servers, ClientSettings())) as cluster:
        prepared = PreparedTransactions(cluster, arguments.transactional_id)
        kept = prepared.take_over()
        if kept != NO_IDENTITY:
            found = database.execute("SELECT 1 FROM orders WHERE (producer_id, producer_epoch) = (?, ?)", kept)
            prepared.end(is_commit=found.fetchone() is not None)
        ((begin,),) = database.execute("SELECT count(*) FROM orders")
        for number in range(begin, arguments.end):
            name = f"order-{number}"
            identity = prepared.prepare(arguments.bootstrap_servers, where, name.encode())
            program.reach("prepared")
            with database:
                database.execute("INSERT INTO orders VALUES (?, ?, ?)", [name, *identity])
            program.reach("decided")
            prepared.end(is_commit=True)


if __name__ == "__main__":
    main()
