"""OffsetCommit (8), versions 2 to 10: where a group has got to. v10 names topics by id.

Offsets for a topic or partition that does not exist are refused one by one; the others are stored.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.broker.group_coordinator import to_records
from fencepost.broker.partition_log import PendingAppend
from fencepost.broker.transaction_coordinator import join_transaction
from fencepost.errors import ErrorCode, Refusal
from fencepost.groups.decision import Decision
from fencepost.groups.deletion import decide_offset_delete
from fencepost.groups.offset_commit import decide_offset_commit, decide_txn_offset_commit, fetch_offsets
from fencepost.groups.replies import (
    OffsetCommitReply,
    OffsetDeleteReply,
    OffsetFetchPartition,
    OffsetFetchReplyTopic,
    PartitionError,
    TopicErrors,
)
from fencepost.groups.requests import (
    OffsetCommit,
    OffsetCommitPartition,
    OffsetCommitTopic,
    OffsetDelete,
    OffsetDeleteTopic,
    OffsetFetch,
    OffsetFetchTopic,
    TxnOffsetCommit,
)
from fencepost.journal.disk import DiskFull
from fencepost.partition.append import AppendOrigin, decide_append
from fencepost.records.builder import build_batch
from fencepost.records.header import read_header
from fencepost.transactions.error_translation import (
    IMPLICIT_ADD_SINCE_TXN_OFFSET_COMMIT_VERSION,
    txn_offset_commit_error,
)
from fencepost.transactions.transaction import ProducerIdentity
from fencepost.types import NO_TOPIC_ID, TopicPartition
from fencepost.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from fencepost.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from fencepost.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from fencepost.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

if TYPE_CHECKING:
    from fencepost.broker.core import BrokerCore


# Topics of an offset commit, plain or transactional: names resolved, and what does not exist refused one by one.


class CommittedPartition(Protocol):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None


class CommittedTopic(Protocol):
    name: str

    @property
    def partitions(self) -> Sequence[CommittedPartition]: ...


def split_topics(
    core: "BrokerCore", topics: Iterable[CommittedTopic], *, by_id: bool = False
) -> tuple[tuple[OffsetCommitTopic, ...], list[TopicErrors]]:
    """What can be committed, and the refusals of the rest."""
    known, refused = [], []
    for topic in topics:
        topic_id = getattr(topic, "topic_id", NO_TOPIC_ID)
        name = core.state.catalogue.names_by_id.get(topic_id, "") if by_id else topic.name
        unknown = ErrorCode.UNKNOWN_TOPIC_ID if by_id and not name else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        good, bad = [], []
        for partition in topic.partitions:
            if TopicPartition(name, partition.partition_index) in core.state.logs:
                good.append(
                    OffsetCommitPartition(
                        partition.partition_index,
                        partition.committed_offset,
                        partition.committed_leader_epoch,
                        partition.committed_metadata,
                    )
                )
            else:
                bad.append(PartitionError(partition.partition_index, unknown))
        if good:
            stored_id = core.state.catalogue.topics[name].topic_id
            known.append(OffsetCommitTopic(name, tuple(good), stored_id))
        if bad:
            refused.append(TopicErrors(name, tuple(bad), topic_id))
    return tuple(known), refused


def join_errors(answered: Iterable[TopicErrors], refused: Iterable[TopicErrors]) -> list[TopicErrors]:
    """One row for each topic, with the partitions of both."""
    rows: dict[tuple[str, UUID], TopicErrors] = {}
    for topic in (*answered, *refused):
        key = (topic.name, topic.topic_id if not topic.name else NO_TOPIC_ID)
        before = rows.get(key)
        rows[key] = topic if before is None else before._replace(partitions=before.partitions + topic.partitions)
    return list(rows.values())


def offset_commit(core: BrokerCore, call: Call) -> Outcome:
    request: OffsetCommitRequest = call.request
    known, refused = split_topics(core, request.topics, by_id=call.api_version >= 10)
    commit = OffsetCommit(
        group_id=request.group_id,
        generation_id_or_member_epoch=request.generation_id_or_member_epoch,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        retention_time_ms=request.retention_time_ms,
        topics=known,
        api_version=call.api_version,
    )
    decision = decide_offset_commit(core.state.groups, commit, token=call, now=call.now)
    core.groups.run(decision, now=call.now, asked_by=call)
    reply = decision.reply_to(call)
    assert isinstance(reply, OffsetCommitReply)
    topics = [
        OffsetCommitResponseTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[OffsetCommitResponsePartition(*partition) for partition in topic.partitions],
        )
        for topic in join_errors(reply.topics, refused)
    ]
    return core.reply(OffsetCommitResponse(topics=topics))


# TxnOffsetCommit (28), versions 0 to 5: offsets of a group, pending until the transaction's marker.
#
# v3 the member's identity fences zombies of the group (KIP-447); v5 adds the offsets partition to the transaction by
# itself (KIP-890).


def txn_offset_commit(core: BrokerCore, call: Call) -> Outcome:
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
    identity = ProducerIdentity(request.producer_id, request.producer_epoch)
    is_implicit_add = call.api_version >= IMPLICIT_ADD_SINCE_TXN_OFFSET_COMMIT_VERSION
    if (refusal := join_transaction(core, call, log, identity, is_implicit_add=is_implicit_add)) is not None:
        return _refuse(core, call, topics, refusal)
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
    if decision.records and (refusal := _append(core, call, decision)) is not None:
        return _refuse(core, call, topics, refusal)
    reply = decision.reply_to(call)
    assert isinstance(reply, OffsetCommitReply)
    return reply.topics


def _append(core: BrokerCore, call: Call, decision: Decision) -> Refusal | None:
    request: TxnOffsetCommitRequest = call.request
    log = core.groups.log_of(decision.group_id)
    batch = build_batch(
        to_records(decision, call.now),
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
        is_transactional=True,
    )
    allowed = decide_append(log.state, read_header(batch), origin=AppendOrigin.COORDINATOR)
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


# OffsetFetch (9), versions 1 to 10: where groups have got to.
#
# v2 null topics means all; v7 require_stable; v8 several groups; v9 member id and epoch; v10 topic ids.


SEVERAL_GROUPS_SINCE_VERSION = 8
TOPIC_IDS_SINCE_VERSION = 10


def offset_fetch(core: BrokerCore, call: Call) -> Outcome:
    if call.api_version < SEVERAL_GROUPS_SINCE_VERSION:
        return _handle_one_group(core, call)
    request: OffsetFetchRequest = call.request
    by_id = call.api_version >= TOPIC_IDS_SINCE_VERSION
    groups = [_fetch_group(core, group, require_stable=request.require_stable, by_id=by_id) for group in request.groups]
    return core.reply(OffsetFetchResponse(groups=groups))


def _handle_one_group(core: BrokerCore, call: Call) -> Outcome:
    request: OffsetFetchRequest = call.request
    topics = None
    if request.topics is not None:
        topics = tuple(OffsetFetchTopic(topic.name, tuple(topic.partition_indexes)) for topic in request.topics)
    reply = fetch_offsets(
        core.state.groups,
        OffsetFetch(group_id=request.group_id, topics=topics, require_stable=request.require_stable),
    )
    answered = [
        OffsetFetchResponseTopic(topic.name, [OffsetFetchResponsePartition(*found) for found in topic.partitions])
        for topic in reply.topics
    ]
    return core.reply(OffsetFetchResponse(topics=answered, error_code=reply.error_code))


def _fetch_group(
    core: BrokerCore, group: OffsetFetchRequestGroup, *, require_stable: bool, by_id: bool
) -> OffsetFetchResponseGroup:
    known, unknown = _resolve(core, group.topics, by_id=by_id)
    reply = fetch_offsets(
        core.state.groups,
        OffsetFetch(
            group_id=group.group_id,
            member_id=group.member_id,
            member_epoch=group.member_epoch,
            topics=known,
            require_stable=require_stable,
        ),
    )
    topics = [_fetched_to_wire(core, topic, by_id=by_id) for topic in (*reply.topics, *unknown)]
    return OffsetFetchResponseGroup(group.group_id, [] if reply.error_code else topics, reply.error_code)


def _resolve(
    core: BrokerCore, topics: list[OffsetFetchRequestTopics] | None, *, by_id: bool
) -> tuple[tuple[OffsetFetchTopic, ...] | None, list[OffsetFetchReplyTopic]]:
    """Topics with their names, and answers for ids that nobody knows."""
    if topics is None:
        return None, []
    known, unknown = [], []
    for topic in topics:
        name = core.state.catalogue.names_by_id.get(topic.topic_id) if by_id else topic.name
        if name is None:
            partitions = tuple(
                OffsetFetchPartition(index, error_code=ErrorCode.UNKNOWN_TOPIC_ID) for index in topic.partition_indexes
            )
            unknown.append(OffsetFetchReplyTopic("", partitions, topic.topic_id))
        else:
            known.append(OffsetFetchTopic(name, tuple(topic.partition_indexes), topic.topic_id))
    return tuple(known), unknown


def _fetched_to_wire(core: BrokerCore, topic: OffsetFetchReplyTopic, *, by_id: bool) -> OffsetFetchResponseTopics:
    topic_id = topic.topic_id
    if by_id and topic_id == UUID(int=0) and (found := core.state.catalogue.topics.get(topic.name)) is not None:
        topic_id = found.topic_id
    partitions = [OffsetFetchResponsePartitions(*partition) for partition in topic.partitions]
    return OffsetFetchResponseTopics(name=topic.name, topic_id=topic_id, partitions=partitions)


# OffsetDelete (47), version 0: a group forgets where it was on some partitions, if it is not subscribed to them.
#
# The rules are in `groups/deletion.py`. Partitions that do not exist are refused one by one.


def offset_delete(core: BrokerCore, call: Call) -> Outcome:
    request: OffsetDeleteRequest = call.request
    known = tuple(topic for each in request.topics if (topic := _existing(core, each)).partition_indexes)
    decision = decide_offset_delete(
        core.state.groups, OffsetDelete(group_id=request.group_id, topics=known), token=call
    )
    core.groups.run(decision, now=call.now, asked_by=call)
    reply = decision.reply_to(call)
    assert isinstance(reply, OffsetDeleteReply)
    if reply.error_code:
        return core.reply(OffsetDeleteResponse(error_code=reply.error_code))
    answered = {
        TopicPartition(topic.name, partition.partition_index): partition
        for topic in reply.topics
        for partition in topic.partitions
    }
    return core.reply(OffsetDeleteResponse(topics=[_deleted_to_wire(topic, answered) for topic in request.topics]))


def _existing(core: BrokerCore, topic: OffsetDeleteRequestTopic) -> OffsetDeleteTopic:
    indexes = (partition.partition_index for partition in topic.partitions)
    return OffsetDeleteTopic(
        topic.name, tuple(index for index in indexes if TopicPartition(topic.name, index) in core.state.logs)
    )


def _deleted_to_wire(
    topic: OffsetDeleteRequestTopic, answered: dict[TopicPartition, PartitionError]
) -> OffsetDeleteResponseTopic:
    partitions = []
    for wanted in topic.partitions:
        index = wanted.partition_index
        unknown = PartitionError(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        found = answered.get(TopicPartition(topic.name, index), unknown)
        partitions.append(OffsetDeleteResponsePartition(index, found.error_code))
    return OffsetDeleteResponseTopic(topic.name, partitions)
