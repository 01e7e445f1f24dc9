"""A shop on one broker core: topics, producers of both flows, readers, restarts; and what clients were told.

`Shop` outlives its broker: `kill` and `restart` put another one in its place. `Producer` does what a client library
does in the flow it was made for: 1 is the classic flow, 2 the one with an epoch for every transaction (KIP-890).
`check` is called after every scenario: the invariants over everything that happened.
"""

from typing import Any

from fencepost.broker.catalogue import TRANSACTION_TOPIC
from fencepost.errors import ErrorCode
from fencepost.journal.dump import dump_frames
from fencepost.journal.frames import FrameKind
from fencepost.journal.segment_header import segment_name
from fencepost.lab.simulated_disk import SimulatedDisk
from fencepost.records.header import read_header
from fencepost.records.reader import read_records
from fencepost.transactions.log_records import Decision, TransactionLogRecord, partition_of
from fencepost.transactions.transaction import Transaction
from fencepost.types import Buffer, Now, ProducerIdentity, TopicPartition
from fencepost.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from fencepost.wire.messages.describe_transactions import DescribeTransactionsRequest
from fencepost.wire.messages.end_txn import EndTxnRequest
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest
from fencepost.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from fencepost.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.scenarios.history import CommitTold, Entry, entry_of, history_of, journal_entries
from tests.scenarios.invariants import check_invariants
from tests.scenarios.reader import consume
from tests.unit.broker.builders import Broker, Sent, batch_of, produce_request

TOPIC = "orders"
PARTITIONS = 3
GROUP = "billing"
SETTINGS = {"group_initial_rebalance_delay_ms": "0", "log_segment_bytes": "65536"}
SWEEP_MS = 10_000
PRODUCE_VERSION = {1: 11, 2: 12}
END_VERSION = {1: 4, 2: 5}
OFFSET_COMMIT_VERSION = {1: 4, 2: 5}


class Shop:
    def __init__(self, *, disk: SimulatedDisk | None = None, now: Now | None = None, **settings: str) -> None:
        self.broker = Broker(disk=disk, now=now, **{**SETTINGS, **settings})
        if TOPIC not in self.broker.core.state.catalogue.topics:
            self.broker.create_topic(TOPIC, PARTITIONS)
        self.commits_told: list[CommitTold] = []
        self.identities_told: list[tuple[str | None, ProducerIdentity]] = []
        self.forgotten_producer_ids: set[int] = set()
        self.has_foreign_markers = False

    # Life

    def kill(self) -> None:
        """kill -9: what was not written to the disk is lost."""
        self.broker = self.broker.after_kill()

    def restart(self) -> None:
        self.broker = self.broker.restarted()

    def write_without_answering(self) -> None:
        """Everything appended is on the disk, and the broker dies before it can tell anybody."""
        group = self.broker.core.begin_commit()
        assert group is not None
        group.write_and_sync()

    def kill_losing(self, position: int) -> None:
        """kill -9 in the middle of the last write: what was appended from this position on did not make it."""
        self.broker.disk = self.disk_losing(position)
        self.kill()

    def disk_losing(self, position: int) -> SimulatedDisk:
        disk = self.broker.disk.snapshot()
        (place,) = [
            (segment_name(segment.first_position), frame.place)
            for segment, frame in dump_frames(disk)
            if frame.position == position and frame.kind == FrameKind.BATCH
        ]
        disk.flip_bit(place[0], position=place[1], bit=0)
        return disk

    @property
    def last_position(self) -> int:
        return self.broker.core.journal.last_position

    def time_out(self) -> None:
        """Let the housekeeping see what is open, and then let more than a minute pass."""
        self.broker.sleep(SWEEP_MS)
        self.broker.sleep(60_000 + SWEEP_MS)

    def check(self) -> None:
        check_invariants(
            history_of(
                self.broker,
                commits_told=self.commits_told,
                identities_told=self.identities_told,
                forgotten_producer_ids=frozenset(self.forgotten_producer_ids),
                has_foreign_markers=self.has_foreign_markers,
            )
        )

    # The coordinator

    def producer(self, transactional_id: str = "shop", *, flow: int = 2, **more: Any) -> "Producer":
        """A producer that has just called initTransactions()."""
        reply = self.init(transactional_id, **more)
        if reply.error_code == ErrorCode.CONCURRENT_TRANSACTIONS:
            reply = self.init(transactional_id, **more)
        assert reply.error_code == ErrorCode.NONE, reply
        return Producer(self, transactional_id, ProducerIdentity(reply.producer_id, reply.producer_epoch), flow=flow)

    def init(
        self,
        transactional_id: str | None = "shop",
        *,
        presented: tuple[int, int] = (-1, -1),
        timeout_ms: int = 60_000,
        version: int = 5,
        client_id: str = "test",
        connection: int = 1,
        **more: bool,
    ) -> Any:
        request = InitProducerIdRequest(transactional_id, timeout_ms, *presented, **more)
        reply = self.broker.ask(request, version, client_id=client_id, connection=connection)
        if reply.error_code == ErrorCode.NONE:
            identity = ProducerIdentity(reply.producer_id, reply.producer_epoch)
            self.identities_told.append((transactional_id, identity))
        return reply

    def add(
        self,
        identity: tuple[int, int],
        *partitions: int,
        transactional_id: str = "shop",
        version: int = 3,
        connection: int = 1,
    ) -> int:
        """AddPartitionsToTxn as clients send it; the one error code of all partitions."""
        request = add_request(identity, *partitions, transactional_id=transactional_id)
        (topic,) = self.broker.ask(request, version, connection=connection).results_by_topic_v3_and_below
        (error_code,) = {each.partition_error_code for each in topic.results_by_partition}
        return int(error_code)

    def end(
        self,
        identity: tuple[int, int],
        *,
        committed: bool = True,
        version: int = 5,
        transactional_id: str = "shop",
        connection: int = 1,
        client_id: str = "test",
    ) -> Any:
        request = EndTxnRequest(transactional_id, *identity, committed)
        sent = self.broker.send(request, version, connection=connection, client_id=client_id)
        self.broker.commit()
        return self.ended(sent)

    def ended(self, sent: Sent) -> Any:
        """The answer of an EndTxn that was sent before; remembered if it says that a commit is done."""
        request, reply = sent.call.request, sent.reply
        assert reply is not None, f"EndTxn was not answered: {sent.outcome}"
        if request.committed and reply.error_code == ErrorCode.NONE:
            presented = ProducerIdentity(request.producer_id, request.producer_epoch)
            prepared = tuple(self.synced_prepares(request.transactional_id))
            told = CommitTold(request.transactional_id, presented, sent.call.api_version, prepared)
            self.commits_told.append(told)
        return reply

    def synced_prepares(self, transactional_id: str) -> list[Transaction]:
        """What the journal lets anybody read by now, which is what is synced."""
        count = len(self.broker.core.state.catalogue.topics[TRANSACTION_TOPIC].partition_refs)
        place = partition_of(TransactionLogRecord(transactional_id, None), count)
        transactions = [
            record.transaction
            for batch in self._batches(place)
            for record in entry_of(place, batch).logged
            if isinstance(record, TransactionLogRecord) and record.transaction is not None
        ]
        return [each for each in transactions if each.transactional_id == transactional_id and each.state.is_prepare]

    def plant(self, transaction: Transaction) -> None:
        """Append a value of a transactional id as the coordinator would: a shortcut to far-away epochs."""
        decision: Decision[None] = Decision((TransactionLogRecord(transaction.transactional_id, transaction),), None)
        self.broker.core.transactions.run(decision, now_ms=self.broker.now.wall_ms)
        self.broker.commit()

    def described(self, transactional_id: str = "shop") -> Any:
        return self.broker.ask(DescribeTransactionsRequest([transactional_id])).transaction_states[0]

    def state(self, transactional_id: str = "shop") -> str:
        return str(self.described(transactional_id).transaction_state)

    # Partitions

    def committed(self, partition: int = 0, topic: str = TOPIC) -> list[bytes | None]:
        """What a read_committed consumer reads."""
        start_offset = self.broker.core.state.logs[TopicPartition(topic, partition)].state.log_start_offset
        return [record.value for record in consume(self.broker, TopicPartition(topic, partition), start_offset)]

    def entries(self, partition: int = 0, topic: str = TOPIC) -> list[Entry]:
        """Every batch of a partition, data and markers, as the disk has them."""
        wanted = TopicPartition(topic, partition)
        return [entry for entry in journal_entries(self.broker) if entry.topic_partition == wanted]

    def markers(self, partition: int = 0, topic: str = TOPIC) -> list[bool]:
        """True for COMMIT, False for ABORT, in order."""
        return [entry.marker.is_commit for entry in self.entries(partition, topic) if entry.marker is not None]

    def written(self, partition: int = 0, topic: str = TOPIC) -> list[bytes | None]:
        """Every data record that was ever stored, committed or not."""
        batches = self._batches(TopicPartition(topic, partition))
        data = [batch for batch in batches if not read_header(batch).is_control]
        return [record.value for batch in data for record in read_records(batch)]

    def _batches(self, topic_partition: TopicPartition) -> list[Buffer]:
        log = self.broker.core.state.logs[topic_partition]
        end_offset = log.state.end_offset
        return self.broker.core.journal.read(log.partition_ref, 0, end_offset=end_offset, max_bytes=2**40)

    def last_stable_offset(self, partition: int = 0) -> int:
        return int(self.broker.fetch(TOPIC, partition, isolation_level=1).last_stable_offset)

    def high_watermark(self, partition: int = 0) -> int:
        return int(self.broker.fetch(TOPIC, partition).high_watermark)

    # Groups

    def offset(self, *, require_stable: bool = True) -> tuple[int, int]:
        request = OffsetFetchRequest(
            group_id=GROUP, topics=[OffsetFetchRequestTopic(TOPIC, [0])], require_stable=require_stable
        )
        (answer,) = self.broker.ask(request, 7).topics[0].partitions
        return answer.error_code, answer.committed_offset

    def commit_offset(self, offset: int) -> int:
        """A plain commit, outside of any transaction."""
        topics = [OffsetCommitRequestTopic(TOPIC, partitions=[OffsetCommitRequestPartition(0, offset)])]
        request = OffsetCommitRequest(group_id=GROUP, generation_id_or_member_epoch=-1, topics=topics)
        return int(self.broker.ask(request, 8).topics[0].partitions[0].error_code)


class Producer:
    """One client with one transactional id. It numbers its batches and keeps to the order of its flow."""

    def __init__(self, shop: Shop, transactional_id: str, identity: ProducerIdentity, *, flow: int) -> None:
        self.shop = shop
        self.transactional_id = transactional_id
        self.identity = identity
        self.flow = flow
        self.next_sequences: dict[int, int] = {}
        self.added: set[int] = set()

    def send(self, *values: bytes, partition: int = 0) -> Any:
        """The next batch of the open transaction, on a partition that is added first where the flow asks for it."""
        if self.flow == 1 and partition not in self.added:
            assert self.add(partition) == ErrorCode.NONE
        sequence = self.next_sequences.get(partition, 0)
        answer = self.write(*values, partition=partition, sequence=sequence)
        assert answer.error_code == ErrorCode.NONE, answer
        self.next_sequences[partition] = sequence + len(values)
        return answer

    def add(self, *partitions: int, connection: int = 1) -> int:
        self.added.update(partitions)
        return self.shop.add(self.identity, *partitions, transactional_id=self.transactional_id, connection=connection)

    def write(self, *values: bytes, partition: int = 0, sequence: int = 0, **more: Any) -> Any:
        """One batch exactly as told; `identity`, `version` and `connection` can be others than this producer's."""
        sent = self.start_writing(*values, partition=partition, sequence=sequence, **more)
        self.shop.broker.commit()
        return produced(sent)

    def start_writing(
        self,
        *values: bytes,
        partition: int = 0,
        sequence: int = 0,
        identity: tuple[int, int] | None = None,
        version: int | None = None,
        connection: int = 1,
    ) -> Sent:
        producer_id, producer_epoch = identity or self.identity
        batch = batch_of(
            *values,
            timestamp_ms=self.shop.broker.now.wall_ms,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=sequence,
            is_transactional=True,
        )
        request = produce_request(TOPIC, batch, partition=partition, transactional_id=self.transactional_id)
        return self.shop.broker.send(request, version or PRODUCE_VERSION[self.flow], connection=connection)

    def send_offset(self, offset: int, **member: Any) -> int:
        """TxnOffsetCommit for the first partition of the topic."""
        if self.flow == 1:
            request = AddOffsetsToTxnRequest(self.transactional_id, *self.identity, GROUP)
            assert self.shop.broker.ask(request, 4).error_code == ErrorCode.NONE
        partitions = [TxnOffsetCommitRequestPartition(0, offset, -1, "")]
        commit = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=GROUP,
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.producer_epoch,
            topics=[TxnOffsetCommitRequestTopic(TOPIC, partitions)],
            **member,
        )
        (answered,) = self.shop.broker.ask(commit, OFFSET_COMMIT_VERSION[self.flow]).topics
        return int(answered.partitions[0].error_code)

    def commit(self) -> Any:
        return self.end(committed=True)

    def abort(self) -> Any:
        return self.end(committed=False)

    def end(self, *, committed: bool) -> Any:
        """End the transaction and, if that worked, be ready for the next."""
        reply = self.shop.end(
            self.identity, committed=committed, version=END_VERSION[self.flow], transactional_id=self.transactional_id
        )
        if reply.error_code == ErrorCode.NONE:
            self.added.clear()
            if self.flow == 2:
                self.identity = ProducerIdentity(reply.producer_id, reply.producer_epoch)
                self.next_sequences.clear()
        return reply


def add_request(
    identity: tuple[int, int], *partitions: int, transactional_id: str = "shop"
) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=transactional_id,
        v3_and_below_producer_id=identity[0],
        v3_and_below_producer_epoch=identity[1],
        v3_and_below_topics=[AddPartitionsToTxnTopic(TOPIC, list(partitions))],
    )


def produced(sent: Sent) -> Any:
    """The one partition's answer of a Produce."""
    assert sent.reply is not None, f"Produce was not answered: {sent.outcome}"
    return sent.reply.responses[0].partition_responses[0]
