"""Fetch (1), versions 4 to 18: records of many partitions in one answer, by isolation level, with long polling.

v7 sessions (KIP-227); v9 leader epochs; v12 flexible; v13 topic ids instead of names.
Differences from Kafka: there are no followers, so replica fields are passed over.
"""

from collections.abc import Iterator

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.broker.core import BrokerCore
from fencepost.broker.fetch_sessions import FetchTarget, TargetKey
from fencepost.broker.fetching import answer_or_park
from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.visibility import IsolationLevel
from fencepost.wire.messages.fetch import FetchRequest, FetchResponse

TOPIC_IDS_SINCE_VERSION = 13


def fetch(core: BrokerCore, call: Call) -> Outcome:
    request: FetchRequest = call.request
    if request.isolation_level not in tuple(IsolationLevel):
        return Reply(FetchResponse(error_code=ErrorCode.INVALID_REQUEST))
    by_id = call.api_version >= TOPIC_IDS_SINCE_VERSION
    context = core.fetch_sessions.resolve(
        session_id=request.session_id,
        session_epoch=request.session_epoch,
        targets=_targets(request, by_id=by_id),
        forgotten=_forgotten(request, by_id=by_id),
        now_ms=call.now.monotonic_ms,
    )
    if isinstance(context, Refusal):
        return Reply(FetchResponse(error_code=context.error_code))
    return answer_or_park(core, call, context)


def _targets(request: FetchRequest, *, by_id: bool) -> Iterator[FetchTarget]:
    for topic in request.topics:
        for partition in topic.partitions:
            yield FetchTarget(
                TargetKey(topic.topic_id if by_id else topic.topic, partition.partition),
                fetch_offset=partition.fetch_offset,
                partition_bytes_max=partition.partition_max_bytes,
                current_leader_epoch=partition.current_leader_epoch,
            )


def _forgotten(request: FetchRequest, *, by_id: bool) -> Iterator[TargetKey]:
    for topic in request.forgotten_topics_data:
        for partition in topic.partitions:
            yield TargetKey(topic.topic_id if by_id else topic.topic, partition)
