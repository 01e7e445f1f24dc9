"""OffsetForLeaderEpoch (23), versions 2 to 4: where a leader epoch ended, for clients that look for lost records.

Differences from Kafka: the newest epoch ends at the high watermark, for what is not synced is shown to nobody.
"""

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.broker.core import BrokerCore
from fencepost.broker.fetching import check_leader_epoch
from fencepost.errors import ErrorCode
from fencepost.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: OffsetForLeaderEpochRequest = call.request
    topics = [
        OffsetForLeaderTopicResult(
            topic.topic, [_find_end(core, topic.topic, partition) for partition in topic.partitions]
        )
        for topic in request.topics
    ]
    return Reply(OffsetForLeaderEpochResponse(topics=topics))


def _find_end(core: BrokerCore, topic: str, wanted: OffsetForLeaderPartition) -> EpochEndOffset:
    log = core.log(topic, wanted.partition)
    if log is None:
        return EpochEndOffset(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, wanted.partition)
    epochs = log.state.leader_epochs
    if (error_code := check_leader_epoch(wanted.current_leader_epoch, epochs.latest)) is not None:
        return EpochEndOffset(error_code, wanted.partition)
    end = epochs.end_of(wanted.leader_epoch, high_watermark=log.state.high_watermark)
    return EpochEndOffset(ErrorCode.NONE, wanted.partition, end.leader_epoch, end.end_offset)
