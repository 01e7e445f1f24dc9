"""OffsetFetch (9), versions 1 to 10: where groups have got to.

v2 null topics means all; v7 require_stable; v8 several groups; v9 member id and epoch; v10 topic ids.
"""

from uuid import UUID

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.groups.offset_fetch import fetch_offsets
from fencepost.groups.replies import OffsetFetchPartition, OffsetFetchReplyTopic
from fencepost.groups.requests import OffsetFetch, OffsetFetchTopic
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

SEVERAL_GROUPS_SINCE_VERSION = 8
TOPIC_IDS_SINCE_VERSION = 10


def handle(core: BrokerCore, call: Call) -> Outcome:
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
    topics = [_to_wire(core, topic, by_id=by_id) for topic in (*reply.topics, *unknown)]
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


def _to_wire(core: BrokerCore, topic: OffsetFetchReplyTopic, *, by_id: bool) -> OffsetFetchResponseTopics:
    topic_id = topic.topic_id
    if by_id and topic_id == UUID(int=0) and (found := core.state.catalogue.topics.get(topic.name)) is not None:
        topic_id = found.topic_id
    partitions = [OffsetFetchResponsePartitions(*partition) for partition in topic.partitions]
    return OffsetFetchResponseTopics(name=topic.name, topic_id=topic_id, partitions=partitions)
