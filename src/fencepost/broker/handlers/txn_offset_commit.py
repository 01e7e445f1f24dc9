"""TxnOffsetCommit (28), versions 0 to 5: offsets of a group, pending until the transaction's marker.

v3 the member's identity fences zombies of the group (KIP-447); v5 adds the offsets partition to the transaction by
itself (KIP-890).
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.committed_topics import join_errors, split_topics
from fencepost.broker.core import BrokerCore
from fencepost.broker.group_coordinator import to_records
from fencepost.broker.joining import join_transaction
from fencepost.broker.log_writer import PendingAppend
from fencepost.errors import ErrorCode, Refusal
from fencepost.groups.decision import Decision
from fencepost.groups.offset_commit import decide_txn_offset_commit
from fencepost.groups.replies import OffsetCommitReply, PartitionError, TopicErrors
from fencepost.groups.requests import OffsetCommitTopic, TxnOffsetCommit
from fencepost.journal.disk import DiskFull
from fencepost.partition.append import AppendOrigin, decide_append
from fencepost.records.builder import build_batch
from fencepost.records.header import read_header
from fencepost.transactions.error_translation import (
    IMPLICIT_ADD_SINCE_TXN_OFFSET_COMMIT_VERSION,
    txn_offset_commit_error,
)
from fencepost.transactions.transaction import ProducerIdentity
from fencepost.types import NO_SEQUENCE
from fencepost.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: TxnOffsetCommitRequest = call.request
    known, refused = split_topics(core, request.topics)
    answered = _commit(core, call, known) if known else ()
    topics = [
        TxnOffsetCommitResponseTopic(
            topic.name, [TxnOffsetCommitResponsePartition(*partition) for partition in topic.partitions]
        )
        for topic in join_errors(answered, refused)
    ]
    return core.reply(TxnOffsetCommitResponse(topics=topics))


def _commit(core: BrokerCore, call: Call, topics: tuple[OffsetCommitTopic, ...]) -> tuple[TopicErrors, ...]:
    request: TxnOffsetCommitRequest = call.request
    if not request.group_id:
        return _all_failed(topics, ErrorCode.INVALID_GROUP_ID)
    log = core.groups.log_of(request.group_id)
    agreed = join_transaction(
        core,
        call,
        log,
        identity=ProducerIdentity(request.producer_id, request.producer_epoch),
        base_sequence=NO_SEQUENCE,
        is_implicit_add=call.api_version >= IMPLICIT_ADD_SINCE_TXN_OFFSET_COMMIT_VERSION,
    )
    if isinstance(agreed, Refusal):
        return _refuse(core, call, topics, agreed)
    commit = TxnOffsetCommit(
        group_id=request.group_id,
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        topics=topics,
        api_version=call.api_version,
    )
    decision = decide_txn_offset_commit(core.state.groups, commit, token=call, now=call.now)
    if decision.records and (refusal := _append(core, call, decision, guard_id=agreed)) is not None:
        return _refuse(core, call, topics, refusal)
    reply = decision.reply_to(call)
    assert isinstance(reply, OffsetCommitReply)
    return reply.topics


def _append(core: BrokerCore, call: Call, decision: Decision, *, guard_id: int | None) -> Refusal | None:
    request: TxnOffsetCommitRequest = call.request
    log = core.groups.log_of(decision.group_id)
    batch = build_batch(
        to_records(decision, call.now),
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
        is_transactional=True,
    )
    allowed = decide_append(
        log.state,
        read_header(batch),
        origin=AppendOrigin.COORDINATOR,
        guard_id=guard_id,
        is_verification_enabled=core.settings.transaction_partition_verification_enable,
    )
    if isinstance(allowed, Refusal):
        return allowed
    try:
        core.writer.append(PendingAppend(log, batch))
    except DiskFull as full:
        return Refusal(ErrorCode.KAFKA_STORAGE_ERROR, f"the disk is full: {full}")
    return None


def _refuse(
    core: BrokerCore, call: Call, topics: tuple[OffsetCommitTopic, ...], refusal: Refusal
) -> tuple[TopicErrors, ...]:
    core.log_refusal(call, call.request.transactional_id, refusal)
    return _all_failed(topics, txn_offset_commit_error(call.api_version, refusal.error_code))


def _all_failed(topics: tuple[OffsetCommitTopic, ...], error_code: ErrorCode) -> tuple[TopicErrors, ...]:
    return tuple(
        TopicErrors(topic.name, tuple(PartitionError(each.partition_index, error_code) for each in topic.partitions))
        for topic in topics
    )
