"""Committed offsets: OffsetCommit, TxnOffsetCommit, OffsetFetch and OffsetDelete. The rules are in `groups/`.

Offsets for a topic or partition that does not exist are refused one by one; the others are stored.
"""

from collections.abc import Iterable, Sequence
from uuid import UUID

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.broker.group_coordinator import to_records
from fencepost.broker.partition_log import PendingAppend
from fencepost.broker.transaction_coordinator import join_transaction, txn_offset_commit_error
from fencepost.errors import ErrorCode, Refusal
from fencepost.groups.decision import Decision
from fencepost.groups.deletion import decide_offset_delete
from fencepost.groups.offset_commit import (
    OfferedOffset,
    all_failed,
    decide_offset_commit,
    decide_txn_offset_commit,
    fetch_offsets,
)
from fencepost.journal.disk import DiskFull
from fencepost.partition.append import AppendOrigin, decide_append
from fencepost.records.builder import build_batch
from fencepost.records.header import read_header
from fencepost.types import NO_OFFSET, NO_TOPIC_ID, ProducerIdentity, TopicPartition
from fencepost.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
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
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

OFFSET_COMMIT_SINCE_TOPIC_IDS = 10
OFFSET_FETCH_SINCE_SEVERAL_GROUPS = 8
OFFSET_FETCH_SINCE_TOPIC_IDS = 10


def offset_commit(core: BrokerCore, call: Call) -> Outcome:
    """OffsetCommit (8), versions 2 to 10: where a group has got to. v10 names topics by id."""
    request: OffsetCommitRequest = call.request
    known, unknown = _split(core, request.topics, by_id=call.api_version >= OFFSET_COMMIT_SINCE_TOPIC_IDS)
    decision, committed = decide_offset_commit(core.state.groups, call, known)
    core.groups.run(decision, now=call.now)
    topics = [
        OffsetCommitResponseTopic(
            name,
            topic_id,
            [OffsetCommitResponsePartition(each.topic_partition.partition, each.error_code) for each in offers],
        )
        for (name, topic_id), offers in _by_topic((*committed, *unknown)).items()
    ]
    return core.reply(OffsetCommitResponse(topics=topics))


def _split(
    core: BrokerCore, topics: Iterable[OffsetCommitRequestTopic | TxnOffsetCommitRequestTopic], *, by_id: bool = False
) -> tuple[list[OfferedOffset], list[OfferedOffset]]:
    """The partitions of a commit that exist, and the refusals of the others."""
    known, unknown = [], []
    for topic in topics:
        topic_id = topic.topic_id if isinstance(topic, OffsetCommitRequestTopic) else NO_TOPIC_ID
        name = core.state.catalogue.names_by_id.get(topic_id, "") if by_id else topic.name
        error_code = ErrorCode.UNKNOWN_TOPIC_ID if by_id and not name else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        stored = core.state.catalogue.topics.get(name)
        if stored is not None:
            topic_id = stored.topic_id
        for partition in topic.partitions:
            topic_partition = TopicPartition(name, partition.partition_index)
            if topic_partition in core.state.logs:
                known.append(OfferedOffset(topic_partition, topic_id, partition))
            else:
                unknown.append(OfferedOffset(topic_partition, topic_id, partition, error_code))
    return known, unknown


def _by_topic(offers: Iterable[OfferedOffset]) -> dict[tuple[str, UUID], list[OfferedOffset]]:
    rows: dict[tuple[str, UUID], list[OfferedOffset]] = {}
    for offer in offers:
        rows.setdefault((offer.topic_partition.topic, offer.topic_id), []).append(offer)
    return rows


IMPLICIT_ADD_SINCE_VERSION = 5


def txn_offset_commit(core: BrokerCore, call: Call) -> Outcome:
    """TxnOffsetCommit (28), versions 0 to 5: offsets of a group, pending until the transaction's marker.

    v3 the member's identity fences zombies of the group (KIP-447); v5 adds the offsets partition to the transaction
    by itself (KIP-890).
    """
    request: TxnOffsetCommitRequest = call.request
    known, unknown = _split(core, request.topics)
    committed = _commit(core, call, known) if known else ()
    topics = [
        TxnOffsetCommitResponseTopic(
            name, [TxnOffsetCommitResponsePartition(each.topic_partition.partition, each.error_code) for each in offers]
        )
        for (name, _), offers in _by_topic((*committed, *unknown)).items()
    ]
    return core.reply(TxnOffsetCommitResponse(topics=topics))


def _commit(core: BrokerCore, call: Call, offers: Sequence[OfferedOffset]) -> list[OfferedOffset]:
    request: TxnOffsetCommitRequest = call.request
    if not request.group_id:
        return all_failed(offers, ErrorCode.INVALID_GROUP_ID)
    log = core.groups.log_of(request.group_id)
    identity = ProducerIdentity(request.producer_id, request.producer_epoch)
    is_implicit_add = call.api_version >= IMPLICIT_ADD_SINCE_VERSION
    if (refusal := join_transaction(core, call, log, identity, is_implicit_add=is_implicit_add)) is not None:
        return _refuse(core, call, offers, refusal)
    decision, committed = decide_txn_offset_commit(core.state.groups, call, offers)
    if decision.records and (refusal := _append(core, call, decision)) is not None:
        return _refuse(core, call, offers, refusal)
    return committed


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


def _refuse(core: BrokerCore, call: Call, offers: Sequence[OfferedOffset], refusal: Refusal) -> list[OfferedOffset]:
    core.log_refusal(call, call.request.transactional_id, refusal)
    return all_failed(offers, txn_offset_commit_error(call.api_version, refusal.error_code))


def offset_fetch(core: BrokerCore, call: Call) -> Outcome:
    """OffsetFetch (9), versions 1 to 10: where groups have got to.

    v2 null topics means all; v7 require_stable; v8 several groups; v9 member id and epoch; v10 topic ids.
    """
    request: OffsetFetchRequest = call.request
    if call.api_version < OFFSET_FETCH_SINCE_SEVERAL_GROUPS:
        return core.reply(_fetch_one_group(core, request))
    by_id = call.api_version >= OFFSET_FETCH_SINCE_TOPIC_IDS
    return core.reply(
        OffsetFetchResponse(groups=[_fetch_group(core, group, request, by_id=by_id) for group in request.groups])
    )


def _fetch_one_group(core: BrokerCore, request: OffsetFetchRequest) -> OffsetFetchResponse:
    asked = OffsetFetchRequestGroup(request.group_id, topics=None)
    if request.topics is not None:
        asked.topics = [
            OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
            for topic in request.topics
        ]
    fetched = fetch_offsets(core.state.groups, asked, require_stable=request.require_stable)
    topics = [
        OffsetFetchResponseTopic(
            topic.name,
            [
                OffsetFetchResponsePartition(
                    each.partition_index,
                    each.committed_offset,
                    each.committed_leader_epoch,
                    each.metadata,
                    each.error_code,
                )
                for each in topic.partitions
            ],
        )
        for topic in fetched.topics
    ]
    return OffsetFetchResponse(topics=topics, error_code=fetched.error_code)


def _fetch_group(
    core: BrokerCore, group: OffsetFetchRequestGroup, request: OffsetFetchRequest, *, by_id: bool
) -> OffsetFetchResponseGroup:
    """With topics by id: ids that no topic has are answered last, and names are given ids."""
    if not by_id:
        return fetch_offsets(core.state.groups, group, require_stable=request.require_stable)
    catalogue = core.state.catalogue
    unknown: list[OffsetFetchRequestTopics] = []
    if group.topics is not None:
        for topic in group.topics:
            topic.name = catalogue.names_by_id.get(topic.topic_id, "")
        unknown = [topic for topic in group.topics if not topic.name]
        group.topics = [topic for topic in group.topics if topic.name]
    fetched = fetch_offsets(core.state.groups, group, require_stable=request.require_stable)
    if fetched.error_code:
        return fetched
    for answered in fetched.topics:
        if answered.topic_id == NO_TOPIC_ID and answered.name in catalogue.topics:
            answered.topic_id = catalogue.topics[answered.name].topic_id
    error_code = ErrorCode.UNKNOWN_TOPIC_ID
    fetched.topics += [
        OffsetFetchResponseTopics(
            topic_id=topic.topic_id,
            partitions=[
                OffsetFetchResponsePartitions(index, NO_OFFSET, error_code=error_code)
                for index in topic.partition_indexes
            ],
        )
        for topic in unknown
    ]
    return fetched


def offset_delete(core: BrokerCore, call: Call) -> Outcome:
    """OffsetDelete (47), version 0: a group forgets where it was on partitions, if it is not subscribed to them."""
    decision, response = decide_offset_delete(core.state.groups, call.request, existing=core.state.logs)
    core.groups.run(decision, now=call.now)
    return core.reply(response)
