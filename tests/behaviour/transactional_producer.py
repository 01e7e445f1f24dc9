"""A transactional producer that sends what it is told, in the classic flow (V1) or with an epoch per transaction (V2).

It keeps its identity and its sequences, as a client does, and lets a test lie about either.
"""

from typing import Any

from fencepost.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from fencepost.wire.messages.describe_transactions import DescribeTransactionsRequest
from fencepost.wire.messages.end_txn import EndTxnRequest
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest
from fencepost.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.behaviour.peer import Client, Peer, until
from tests.behaviour.producing import PRODUCE_V1, PRODUCE_V2, batch_of, produce

CLASSIC, EPOCH_PER_TRANSACTION = 1, 2
END_TXN = {CLASSIC: 4, EPOCH_PER_TRANSACTION: 5}
PRODUCE = {CLASSIC: PRODUCE_V1, EPOCH_PER_TRANSACTION: PRODUCE_V2}
TXN_OFFSET_COMMIT = {CLASSIC: 4, EPOCH_PER_TRANSACTION: 5}


class TransactionalProducer:
    def __init__(self, peer: Peer, flow: int, *, transactional_id: str | None = None, timeout_ms: int = 60_000) -> None:
        self.peer = peer
        self.flow = flow
        self.transactional_id = transactional_id or peer.name("transactional-id")
        self.timeout_ms = timeout_ms
        self.client: Client = peer.client
        self.producer_id = self.producer_epoch = -1
        self.sequences: dict[tuple[str, int], int] = {}
        self.take(self.init())

    def take(self, answer: Any) -> None:
        assert answer.error_code == 0, answer
        self.producer_id, self.producer_epoch = answer.producer_id, answer.producer_epoch
        self.sequences.clear()

    def init(self, *, producer_id: int = -1, producer_epoch: int = -1, version: int = 5) -> Any:
        request = InitProducerIdRequest(self.transactional_id, self.timeout_ms, producer_id, producer_epoch)
        return self.client.put_settled(request, version)

    def add_partitions(self, topic: str, *partitions: int, version: int = 3, **identity: int) -> dict[int, int]:
        """Error codes by partition."""
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=identity.get("producer_id", self.producer_id),
            v3_and_below_producer_epoch=identity.get("producer_epoch", self.producer_epoch),
            v3_and_below_topics=[AddPartitionsToTxnTopic(topic, list(partitions or (0,)))],
        )
        answer = until(lambda: self.client.put(request, version), lambda found: 51 not in _codes_of(found).values())
        return _codes_of(answer)

    def produce(self, topic: str, *values: bytes, partition: int = 0, **lies: Any) -> Any:
        """One batch. In the classic flow the partition must have been added; sequences are kept unless given."""
        key = topic, partition
        version = lies.pop("version", PRODUCE[self.flow])
        transactional_id = lies.pop("transactional_id", self.transactional_id)
        said = {
            "producer_id": self.producer_id,
            "producer_epoch": self.producer_epoch,
            "base_sequence": self.sequences.get(key, 0),
            "is_transactional": True,
        }
        batch = batch_of(*(values or (b"value",)), **(said | lies))
        answer = until(
            lambda: produce(
                self.client, topic, batch, version=version, partition=partition, transactional_id=transactional_id
            ),
            lambda found: found.error_code != 51,
        )
        if answer.error_code == 0 and "base_sequence" not in lies:
            self.sequences[key] = self.sequences.get(key, 0) + len(values or (b"value",))
        return answer

    def write(self, topic: str, *values: bytes, partition: int = 0) -> Any:
        """Add the partition if the flow needs it, produce, and insist that both worked."""
        if self.flow == CLASSIC:
            assert self.add_partitions(topic, partition) == {partition: 0}
        answer = self.produce(topic, *values, partition=partition)
        assert answer.error_code == 0, answer
        return answer

    def end_request(self, *, is_commit: bool, **identity: int) -> EndTxnRequest:
        producer_id = identity.get("producer_id", self.producer_id)
        return EndTxnRequest(
            self.transactional_id, producer_id, identity.get("producer_epoch", self.producer_epoch), is_commit
        )

    def end(self, *, is_commit: bool, version: int | None = None, **identity: int) -> Any:
        """The answer to EndTxn, once the broker is not busy with an earlier one. Takes no new identity from it."""
        request = self.end_request(is_commit=is_commit, **identity)
        return self.client.put_settled(request, END_TXN[self.flow] if version is None else version)

    def commit(self) -> Any:
        return self._finish(is_commit=True)

    def abort(self) -> Any:
        return self._finish(is_commit=False)

    def _finish(self, *, is_commit: bool) -> Any:
        answer = self.end(is_commit=is_commit)
        assert answer.error_code == 0, answer
        if self.flow == EPOCH_PER_TRANSACTION:
            self.take(answer)
        self.wait_for_state("CompleteCommit" if is_commit else "CompleteAbort")
        return answer

    def add_offsets(self, group_id: str, *, version: int = 3, **identity: int) -> int:
        request = AddOffsetsToTxnRequest(
            self.transactional_id,
            identity.get("producer_id", self.producer_id),
            identity.get("producer_epoch", self.producer_epoch),
            group_id,
        )
        return int(self.client.put_settled(request, version).error_code)

    def commit_offset(self, group_id: str, topic: str, offset: int, **fields: Any) -> int:
        """Offset of partition 0 in the transaction. Returns the error code."""
        version = fields.pop("version", TXN_OFFSET_COMMIT[self.flow])
        partition = fields.pop("partition", 0)
        metadata = fields.pop("metadata", "")
        said = {"producer_id": self.producer_id, "producer_epoch": self.producer_epoch}
        wanted = TxnOffsetCommitRequestPartition(partition, offset, committed_metadata=metadata)
        request = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=group_id,
            topics=[TxnOffsetCommitRequestTopic(topic, [wanted])],
            **(said | fields),
        )
        return int(
            until(
                lambda: self.client.put(request, version).topics[0].partitions[0],
                lambda found: found.error_code != 51,
            ).error_code
        )

    def describe(self) -> Any:
        request = DescribeTransactionsRequest([self.transactional_id])
        return self.client.put(request, 0).transaction_states[0]

    def wait_for_state(self, state: str) -> Any:
        return until(self.describe, lambda found: found.transaction_state == state)


def _codes_of(answer: Any) -> dict[int, int]:
    return {
        each.partition_index: each.partition_error_code
        for topic in answer.results_by_topic_v3_and_below
        for each in topic.results_by_partition
    }
