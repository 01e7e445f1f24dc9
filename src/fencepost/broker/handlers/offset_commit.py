"""OffsetCommit (8), versions 2 to 10: where a group has got to. v10 names topics by id.

Offsets for a topic or partition that does not exist are refused one by one; the others are stored.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.committed_topics import join_errors, split_topics
from fencepost.broker.core import BrokerCore
from fencepost.groups.offset_commit import decide_offset_commit
from fencepost.groups.replies import OffsetCommitReply
from fencepost.groups.requests import OffsetCommit
from fencepost.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
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
