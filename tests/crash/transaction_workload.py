"""Transactions of several producers on a broker core, with a record of what each client was told.

Every value names its transaction, so that whatever a reader finds after a crash can be traced to one commit or
abort. A reply counts as told only if its journal position was synced before the crash: exactly what a connection
would have sent.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from random import Random

from fencepost.broker.call import Call, Peer, Reply
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.journal.journal import Journal, JournalConfig
from fencepost.lab.simulated_disk import SimulatedDisk
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.settings import BrokerSettings, parse_settings
from fencepost.types import Now
from fencepost.wire.api import API_TABLE
from fencepost.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from fencepost.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost.wire.messages.end_txn import EndTxnRequest
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest
from fencepost.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from fencepost.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

SEGMENT_BYTES = 6144
TOPICS = ("invoices", "shipments")
PARTITIONS_PER_TOPIC = 2
INPUT_TOPIC = "purchases"
KEY_OF = {api.name: api.key for api in API_TABLE.values()}
SETTINGS: BrokerSettings = parse_settings(
    BrokerSettings,
    {
        "log.segment.bytes": str(SEGMENT_BYTES),
        "offsets.topic.num.partitions": "2",
        "transaction.state.log.num.partitions": "2",
    },
)


class Outcome(Enum):
    OPEN = "begun, and never asked to end"
    COMMIT_ASKED = "asked to commit, not answered"
    ABORT_ASKED = "asked to abort, not answered"
    COMMITTED = "told that it is committed"
    ABORTED = "told that it is aborted"


@dataclass
class TransactionTold:
    """What a client knows about one of its transactions."""

    transactional_id: str
    number: int
    values: dict[tuple[str, int], list[bytes]] = field(default_factory=dict)
    input_offset: int = -1
    outcome: Outcome = Outcome.OPEN


@dataclass
class Told:
    """Everything that clients were told before the crash."""

    transactions: list[TransactionTold] = field(default_factory=list)
    epochs: dict[str, tuple[int, int]] = field(default_factory=dict)
    plain: dict[tuple[str, int], list[bytes]] = field(default_factory=dict)
    plain_sent: dict[tuple[str, int], list[bytes]] = field(default_factory=dict)


def open_core(disk: SimulatedDisk, *, wall_ms: int) -> BrokerCore:
    salts = Random(wall_ms)
    journal = Journal.open(disk, JournalConfig(segment_bytes=SEGMENT_BYTES), salt=lambda: salts.getrandbits(64))
    core = BrokerCore(journal, SETTINGS, random_bytes=salts.randbytes)
    core.recover(Now(wall_ms, wall_ms))
    return core


def commit(core: BrokerCore) -> None:
    """Sync everything that is appended, as the server does."""
    while (group := core.begin_commit()) is not None:
        group.write_and_sync()
        core.finish_commit(group)


class Client:
    """Sends requests straight to the core. A crash of the disk comes out of it as `SimulatedCrash`."""

    def __init__(self, core: BrokerCore, *, connection_id: int, now_ms: Callable[[], int]) -> None:
        self._core = core
        self._peer = Peer(connection_id, "127.0.0.1", 40_000 + connection_id)
        self._now_ms = now_ms

    def handle(self, api: str, version: int, request: object) -> Reply:
        """The reply as the core gives it; it may be shown when its position is synced."""
        now_ms = self._now_ms()
        call = Call(KEY_OF[api], version, 0, "crash-test", self._peer, request, Now(now_ms, now_ms))
        reply = self._core.handle(call)
        assert isinstance(reply, Reply), f"{api} is answered, not {reply}"
        return reply

    def ask(self, api: str, version: int, request: object) -> object:
        reply = self.handle(api, version, request)
        commit(self._core)
        assert reply.position <= self._core.synced_position
        return reply.message


class TransactionWorkload:
    """A deterministic sequence of transactions: two producers of the classic flow, one with epoch bumps, and one that
    writes outside of transactions. Partitions, record counts and outcomes come from the seed."""

    def __init__(self, seed: int, *, transaction_count: int) -> None:
        self._random = Random(seed)
        self._transaction_count = transaction_count
        self._wall_ms = 1_700_000_000_000
        self._sequences: dict[tuple[int, int, str, int], int] = {}
        self._plain_sequence = 0
        self.told = Told()

    def run(self, disk: SimulatedDisk) -> None:
        core = open_core(disk, wall_ms=self._tick())
        commit(core)
        client = Client(core, connection_id=1, now_ms=self._tick)
        topics = [CreatableTopic(name, PARTITIONS_PER_TOPIC, 1) for name in (*TOPICS, INPUT_TOPIC)]
        client.ask("CreateTopics", 7, CreateTopicsRequest(topics=topics))
        for transactional_id in ("classic-a", "classic-b", "bumping"):
            self._initialise(client, transactional_id)
        for number in range(self._transaction_count):
            transactional_id = self._random.choice(("classic-a", "classic-b", "bumping"))
            self._transact(client, transactional_id, number)
            if self._random.random() < 0.5:
                self._produce_plain(client, number)
            if self._random.random() < 0.1:
                self._initialise(client, transactional_id)

    def _tick(self) -> int:
        self._wall_ms += 10
        return self._wall_ms

    def _initialise(self, client: Client, transactional_id: str) -> None:
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=60_000)
        answer = client.ask("InitProducerId", 5, request)
        if answer.error_code == ErrorCode.CONCURRENT_TRANSACTIONS:  # what was open is aborted: ask again
            answer = client.ask("InitProducerId", 5, request)
        assert answer.error_code == ErrorCode.NONE
        self.told.epochs[transactional_id] = (answer.producer_id, answer.producer_epoch)

    def _transact(self, client: Client, transactional_id: str, number: int) -> None:
        transaction = TransactionTold(transactional_id, number)
        self.told.transactions.append(transaction)
        bumps_epoch = transactional_id == "bumping"
        for topic in TOPICS:
            partition = self._random.randrange(PARTITIONS_PER_TOPIC)
            values = [f"{number}:{topic}:{index}".encode() for index in range(self._random.randint(1, 4))]
            transaction.values[topic, partition] = values
            if not bumps_epoch:
                self._add_partition(client, transactional_id, topic, partition)
            self._produce(client, transactional_id, topic, partition, values, version=12 if bumps_epoch else 9)
        transaction.input_offset = number + 1
        self._commit_offset(client, transactional_id, number + 1, bumps_epoch=bumps_epoch)
        draw = self._random.random()
        if draw < 0.15:
            self._initialise(client, transactional_id)  # a new instance takes over and aborts what is open
            transaction.outcome = Outcome.ABORTED
            return
        self._end(client, transaction, is_commit=draw < 0.7, bumps_epoch=bumps_epoch)

    def _add_partition(self, client: Client, transactional_id: str, topic: str, partition: int) -> None:
        producer_id, producer_epoch = self.told.epochs[transactional_id]
        client.handle(
            "AddPartitionsToTxn",
            3,
            AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=transactional_id,
                v3_and_below_producer_id=producer_id,
                v3_and_below_producer_epoch=producer_epoch,
                v3_and_below_topics=[AddPartitionsToTxnTopic(topic, [partition])],
            ),
        )

    def _produce(
        self, client: Client, transactional_id: str, topic: str, partition: int, values: list[bytes], *, version: int
    ) -> None:
        producer_id, producer_epoch = self.told.epochs[transactional_id]
        key = (producer_id, producer_epoch, topic, partition)
        base_sequence = self._sequences.get(key, 0)
        self._sequences[key] = base_sequence + len(values)
        batch = build_batch(
            [Record(timestamp_ms=self._wall_ms, value=value) for value in values],
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            is_transactional=True,
        )
        answer = self._send(client, version, transactional_id, topic, partition, batch)
        assert answer.error_code == ErrorCode.NONE, f"{ErrorCode(answer.error_code).name}: {answer.error_message}"

    def _send(
        self, client: Client, version: int, transactional_id: str | None, topic: str, partition: int, batch: bytes
    ):
        data = [TopicProduceData(name=topic, partition_data=[PartitionProduceData(partition, batch)])]
        request = ProduceRequest(transactional_id=transactional_id, acks=-1, timeout_ms=1000, topic_data=data)
        return client.ask("Produce", version, request).responses[0].partition_responses[0]

    def _produce_plain(self, client: Client, number: int) -> None:
        topic, partition = self._random.choice(TOPICS), self._random.randrange(PARTITIONS_PER_TOPIC)
        value = f"plain:{number}".encode()
        self.told.plain_sent.setdefault((topic, partition), []).append(value)
        answer = self._send(client, 9, None, topic, partition, build_batch([Record(timestamp_ms=1, value=value)]))
        assert answer.error_code == ErrorCode.NONE
        self.told.plain.setdefault((topic, partition), []).append(value)

    def _commit_offset(self, client: Client, transactional_id: str, offset: int, *, bumps_epoch: bool) -> None:
        producer_id, producer_epoch = self.told.epochs[transactional_id]
        identity = {"transactional_id": transactional_id, "producer_id": producer_id, "producer_epoch": producer_epoch}
        group_id = f"group-of-{transactional_id}"
        if not bumps_epoch:
            client.handle("AddOffsetsToTxn", 3, AddOffsetsToTxnRequest(**identity, group_id=group_id))
        partitions = [TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)]
        answer = client.ask(
            "TxnOffsetCommit",
            5 if bumps_epoch else 3,
            TxnOffsetCommitRequest(
                **identity, group_id=group_id, topics=[TxnOffsetCommitRequestTopic(INPUT_TOPIC, partitions)]
            ),
        )
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE

    def _end(self, client: Client, transaction: TransactionTold, *, is_commit: bool, bumps_epoch: bool) -> None:
        transaction.outcome = Outcome.COMMIT_ASKED if is_commit else Outcome.ABORT_ASKED
        producer_id, producer_epoch = self.told.epochs[transaction.transactional_id]
        request = EndTxnRequest(
            transactional_id=transaction.transactional_id,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            committed=is_commit,
        )
        answer = client.ask("EndTxn", 5 if bumps_epoch else 3, request)
        assert answer.error_code == ErrorCode.NONE
        transaction.outcome = Outcome.COMMITTED if is_commit else Outcome.ABORTED
        if bumps_epoch:
            self.told.epochs[transaction.transactional_id] = (answer.producer_id, answer.producer_epoch)
