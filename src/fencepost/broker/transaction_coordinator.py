"""The transaction coordinator's hands: its decisions become entries of the journal, in order, in one commit group.

The rules are in `transactions/`. Here a decision's records go to `__transaction_state`, its markers to the
partitions that the transaction wrote to, and both are folded in at once. The client is answered when the last of
them is synced.

A partition joins a transaction at the first batch that is written to it (KIP-890). In the classic flow the client has
added the partition before, and the coordinator is asked to confirm it; with an epoch for every transaction the
partition is added here. Either way the coordinator's record is in the journal before the batch.
"""

import logging
from typing import TYPE_CHECKING, TypeVar

from fencepost.broker.call import Call
from fencepost.broker.catalogue import TRANSACTION_TOPIC
from fencepost.broker.partition_log import PartitionLog, PendingAppend
from fencepost.errors import ErrorCode, Refusal
from fencepost.journal.disk import DiskFull
from fencepost.partition.append import decide_marker, expect_batch, is_transaction_open
from fencepost.records.builder import build_batch
from fencepost.records.control import ControlMarker, build_marker
from fencepost.transactions.apply import apply
from fencepost.transactions.decide_add_partitions import decide_add_partitions, verify_partitions
from fencepost.transactions.log_records import (
    Caller,
    Decision,
    Entry,
    Marker,
    encode_log_record,
    partition_of,
)
from fencepost.types import ProducerIdentity

if TYPE_CHECKING:
    from fencepost.broker.core import BrokerCore


logger = logging.getLogger("fencepost.transactions")

APPEND_FAILED = ErrorCode.NOT_COORDINATOR
"""What Kafka's coordinators answer when they cannot append to `__transaction_state`; clients ask again."""
EPOCH_PER_TRANSACTION = 2
TRANSACTION_ABORTABLE_SINCE_PRODUCE_VERSION = 11
CONCURRENT_TRANSACTIONS_SINCE_PRODUCE_VERSION = 12
TRANSACTION_ABORTABLE_SINCE_TXN_OFFSET_COMMIT_VERSION = 4

ReplyT = TypeVar("ReplyT")


class TransactionCoordinator:
    def __init__(self, core: "BrokerCore") -> None:
        self._core = core

    def caller(self, call: Call) -> Caller:
        return Caller(call.client_id, call.peer.address, call.peer.connection_id)

    def run(self, decision: Decision[ReplyT], *, now_ms: int) -> ReplyT | Refusal:
        """Append what was decided, all of it or, if there is no room, nothing. Returns the reply."""
        appends = [(entry, self._prepare(entry, now_ms)) for entry in decision.entries]
        self._core.writer.reserve([append for _, append in appends if append is not None])
        for entry, append in appends:
            if append is not None:
                self._core.writer.append(append, is_followed=isinstance(entry, Marker))
            if not isinstance(entry, Marker):
                apply(self._core.state.transactions, entry)
        return decision.reply

    def answer(self, decision: Decision[ReplyT], *, now_ms: int) -> ReplyT | Refusal:
        """`run` for a client: a full disk is an answer, and the client may try again."""
        try:
            return self.run(decision, now_ms=now_ms)
        except DiskFull as full:
            return Refusal(APPEND_FAILED, f"the disk is full: {full}")

    def explained(self, refusal: Refusal, transactional_id: str | None, presented: ProducerIdentity) -> Refusal:
        """A partition that sees a newer epoch knows no more than that; the coordinator knows whose it is."""
        if refusal.error_code is not ErrorCode.INVALID_PRODUCER_EPOCH or transactional_id is None:
            return refusal
        why = self._core.state.transactions.explain(transactional_id, presented)
        return Refusal(refusal.error_code, f"{refusal.message}. {why}") if why else refusal

    def _prepare(self, entry: Entry, now_ms: int) -> PendingAppend | None:
        """None for a marker that is not written: the topic was deleted, or the partition refuses it."""
        logs = self._core.state.logs
        if not isinstance(entry, Marker):
            count = len(self._core.state.catalogue.topics[TRANSACTION_TOPIC].partition_refs)
            batch = build_batch([encode_log_record(entry, timestamp_ms=now_ms)])
            return PendingAppend(logs[partition_of(entry, count)], batch)
        log = logs.get(entry.topic_partition)
        if log is None:
            return None
        # A higher one was an administrator's (WriteTxnMarkers): there is no newer coordinator than this.
        producer = log.state.producers.get(entry.producer_id)
        if producer is not None and producer.coordinator_epoch > entry.coordinator_epoch:
            entry = entry._replace(coordinator_epoch=producer.coordinator_epoch)
        append = self.prepare_marker(log, entry, now_ms=now_ms)
        if isinstance(append, Refusal):
            logger.error("%s refuses %s: %s", entry.topic_partition, entry, append.message)
            return None
        return append

    def prepare_marker(self, log: PartitionLog, marker: Marker, *, now_ms: int) -> PendingAppend | Refusal:
        """The control batch that ends a transaction on a partition, if the partition takes it."""
        decision = decide_marker(
            log.state,
            producer_id=marker.producer_id,
            producer_epoch=marker.producer_epoch,
            coordinator_epoch=marker.coordinator_epoch,
            transaction_version=marker.transaction_version,
        )
        if isinstance(decision, Refusal):
            return decision
        control = ControlMarker(
            marker.producer_id, marker.producer_epoch, marker.is_commit, marker.coordinator_epoch, now_ms
        )
        return PendingAppend(log, build_marker(**control._asdict()), control)


def join_transaction(
    core: "BrokerCore",
    call: Call,
    log: PartitionLog,
    identity: ProducerIdentity,
    *,
    is_implicit_add: bool,
    base_sequence: int | None = None,
) -> Refusal | None:
    """None if the coordinator agrees or need not be asked, or its refusal, untranslated."""
    if not is_implicit_add and not core.settings.transaction_partition_verification_enable:
        return None
    is_open = is_transaction_open(log.state, producer_id=identity.producer_id, producer_epoch=identity.producer_epoch)
    if isinstance(is_open, Refusal):
        return core.transactions.explained(is_open, call.request.transactional_id, identity)
    if not is_open:
        if base_sequence is not None and not is_implicit_add:
            expect_batch(log.state, **identity._asdict(), base_sequence=base_sequence, now_ms=call.now.monotonic_ms)
        ask = _add if is_implicit_add else _verify
        if (refusal := ask(core, call, log, identity)) is not None:
            return refusal
    core.state.transactions.carried_on(call.request.transactional_id, call.peer.connection_id)
    return None


def _add(core: "BrokerCore", call: Call, log: PartitionLog, identity: ProducerIdentity) -> Refusal | None:
    decision = decide_add_partitions(
        core.state.transactions,
        transactional_id=call.request.transactional_id,
        presented=identity,
        partitions=(log.topic_partition,),
        client_transaction_version=EPOCH_PER_TRANSACTION,
        connection_id=call.peer.connection_id,
        now_ms=call.now.wall_ms,
    )
    if isinstance(decision, Refusal):
        return decision
    reply = core.transactions.answer(decision, now_ms=call.now.wall_ms)
    return reply if isinstance(reply, Refusal) else None


def _verify(core: "BrokerCore", call: Call, log: PartitionLog, identity: ProducerIdentity) -> Refusal | None:
    answers = verify_partitions(
        core.state.transactions,
        transactional_id=call.request.transactional_id,
        presented=identity,
        partitions=(log.topic_partition,),
    )
    return answers if isinstance(answers, Refusal) else answers[log.topic_partition]


def produce_error(api_version: int, error_code: ErrorCode) -> ErrorCode:
    """What a Produce answers when the coordinator refused with `error_code`.

    Clients of Produce know NOT_ENOUGH_REPLICAS as retriable; CONCURRENT_TRANSACTIONS only from v12.
    """
    if error_code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if error_code is ErrorCode.TRANSACTION_ABORTABLE and api_version < TRANSACTION_ABORTABLE_SINCE_PRODUCE_VERSION:
        return ErrorCode.INVALID_TXN_STATE
    is_concurrent = error_code is ErrorCode.CONCURRENT_TRANSACTIONS
    if error_code is APPEND_FAILED or (is_concurrent and api_version < CONCURRENT_TRANSACTIONS_SINCE_PRODUCE_VERSION):
        return ErrorCode.NOT_ENOUGH_REPLICAS
    return error_code


def txn_offset_commit_error(api_version: int, error_code: ErrorCode) -> ErrorCode:
    """What a TxnOffsetCommit answers when the coordinator, or the append of the offsets, refused with `error_code`."""
    if error_code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if error_code is ErrorCode.KAFKA_STORAGE_ERROR:
        return APPEND_FAILED
    is_abortable_known = api_version >= TRANSACTION_ABORTABLE_SINCE_TXN_OFFSET_COMMIT_VERSION
    if error_code is ErrorCode.TRANSACTION_ABORTABLE and not is_abortable_known:
        return ErrorCode.INVALID_TXN_STATE
    return error_code
