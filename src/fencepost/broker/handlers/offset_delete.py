"""OffsetDelete (47), version 0: a group forgets where it was on some partitions, if it is not subscribed to them.

The rules are in `groups/deletion.py`. Partitions that do not exist are refused one by one.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.groups.deletion import decide_offset_delete
from fencepost.groups.replies import OffsetDeleteReply, PartitionError
from fencepost.groups.requests import OffsetDelete, OffsetDeleteTopic
from fencepost.types import TopicPartition
from fencepost.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
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
    return core.reply(OffsetDeleteResponse(topics=[_to_wire(topic, answered) for topic in request.topics]))


def _existing(core: BrokerCore, topic: OffsetDeleteRequestTopic) -> OffsetDeleteTopic:
    indexes = (partition.partition_index for partition in topic.partitions)
    return OffsetDeleteTopic(
        topic.name, tuple(index for index in indexes if TopicPartition(topic.name, index) in core.state.logs)
    )


def _to_wire(
    topic: OffsetDeleteRequestTopic, answered: dict[TopicPartition, PartitionError]
) -> OffsetDeleteResponseTopic:
    partitions = []
    for wanted in topic.partitions:
        index = wanted.partition_index
        unknown = PartitionError(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        found = answered.get(TopicPartition(topic.name, index), unknown)
        partitions.append(OffsetDeleteResponsePartition(index, found.error_code))
    return OffsetDeleteResponseTopic(topic.name, partitions)
