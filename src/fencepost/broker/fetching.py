"""Answering a fetch: what each partition may show, within the request's limits, as bytes of the journal.

A fetch that has fewer bytes than it asked for and time left is parked, and tried again when one of its partitions
grows. Errors are never waited for. Only synced records are shown, so the reply itself waits for nothing.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from fencepost.broker.call import PARKED, Call, Outcome, Reply
from fencepost.broker.fetch_sessions import FetchContext, FetchTarget
from fencepost.broker.parked_fetches import ParkedFetch
from fencepost.broker.partition_log import PartitionLog
from fencepost.errors import CorruptLog, ErrorCode, Refusal
from fencepost.partition.partition import LEADER_EPOCH
from fencepost.partition.visibility import IsolationLevel, aborted_transactions, decide_fetch, last_stable_offset
from fencepost.records.header import read_header
from fencepost.types import NO_OFFSET, Buffer, OffsetRange
from fencepost.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)

if TYPE_CHECKING:
    from fencepost.broker.core import BrokerCore


NO_LEADER_EPOCH = -1


class PartitionRead(NamedTuple):
    target: FetchTarget
    data: PartitionData
    size_bytes: int


def answer_or_park(core: "BrokerCore", call: Call, context: FetchContext) -> Outcome:
    request: FetchRequest = call.request
    reads = read_partitions(core, request, context)
    if not reads or request.max_wait_ms <= 0 or is_enough(request, reads):
        return Reply(build_response(context, reads))
    logs = [log for target in context.targets if (log := find_log(core, target)) is not None]
    deadline_ms = call.now.monotonic_ms + request.max_wait_ms
    core.parked_fetches.park(ParkedFetch(call, context, logs, deadline_ms))
    return PARKED


def retry_fetches(core: "BrokerCore", fetches: Iterable[ParkedFetch], *, is_last_try: bool) -> None:
    for fetch in fetches:
        reads = read_partitions(core, fetch.call.request, fetch.context)
        if is_last_try or is_enough(fetch.call.request, reads):
            core.parked_fetches.release(fetch)
            core.answer_later(fetch.call, Reply(build_response(fetch.context, reads)))


def is_enough(request: FetchRequest, reads: list[PartitionRead]) -> bool:
    total_bytes = sum(read.size_bytes for read in reads)
    return total_bytes >= request.min_bytes or any(read.data.error_code for read in reads)


def read_partitions(core: "BrokerCore", request: FetchRequest, context: FetchContext) -> list[PartitionRead]:
    isolation_level = IsolationLevel(request.isolation_level)
    room_bytes = min(request.max_bytes, core.settings.fetch_max_bytes)
    reads = []
    total_bytes = 0
    for target in context.targets:
        bytes_max = min(target.partition_bytes_max, room_bytes - total_bytes)
        data = read_partition(core, target, isolation_level, bytes_max=bytes_max, is_first=total_bytes == 0)
        size_bytes = sum(map(len, data.records or ()))
        total_bytes += size_bytes
        reads.append(PartitionRead(target, data, size_bytes))
    return reads


def build_response(context: FetchContext, reads: list[PartitionRead]) -> FetchResponse:
    """In a session only what is new to the client is sent."""
    response = FetchResponse(session_id=context.session_id)
    by_topic: dict[str | UUID, FetchableTopicResponse] = {}
    for target, data, size_bytes in reads:
        answer = (data.high_watermark, data.last_stable_offset, data.log_start_offset)
        if context.is_incremental and not size_bytes and not data.error_code and answer == target.last_answer:
            continue
        target.last_answer = None if data.error_code else answer
        topic = by_topic.get(target.key.topic)
        if topic is None:
            topic = by_topic[target.key.topic] = _topic_response(target)
            response.responses.append(topic)
        topic.partitions.append(data)
    return response


def _topic_response(target: FetchTarget) -> FetchableTopicResponse:
    topic = target.key.topic
    return FetchableTopicResponse(topic_id=topic) if isinstance(topic, UUID) else FetchableTopicResponse(topic=topic)


def find_log(core: "BrokerCore", target: FetchTarget) -> PartitionLog | None:
    topic = target.key.topic
    name = core.state.catalogue.names_by_id.get(topic) if isinstance(topic, UUID) else topic
    return None if name is None else core.log(name, target.key.partition)


def read_partition(
    core: "BrokerCore", target: FetchTarget, isolation_level: IsolationLevel, *, bytes_max: int, is_first: bool
) -> PartitionData:
    log = find_log(core, target)
    if log is None:
        is_id = isinstance(target.key.topic, UUID)
        return _refused(target, ErrorCode.UNKNOWN_TOPIC_ID if is_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    state = log.state
    if (error_code := check_leader_epoch(target.current_leader_epoch)) is not None:
        return _refused(target, error_code)
    allowed = decide_fetch(state, fetch_offset=target.fetch_offset, isolation_level=isolation_level)
    if isinstance(allowed, Refusal):
        return _refused(target, allowed.error_code)
    batches: list[Buffer] = []
    if len(allowed) and (bytes_max > 0 or is_first):
        try:
            batches = core.journal.read(
                log.partition_ref,
                allowed.start_offset,
                end_offset=allowed.end_offset,
                max_bytes=max(bytes_max, 0),
                at_least_one=is_first,
            )
        except CorruptLog:
            return _refused(target, ErrorCode.KAFKA_STORAGE_ERROR)
    is_read_committed = isolation_level is IsolationLevel.READ_COMMITTED
    return PartitionData(
        partition_index=target.key.partition,
        high_watermark=state.high_watermark,
        last_stable_offset=last_stable_offset(state),
        log_start_offset=state.log_start_offset,
        aborted_transactions=_aborted(log, target.fetch_offset, batches) if is_read_committed else None,
        records=batches,
    )


def _aborted(log: PartitionLog, fetch_offset: int, batches: list[Buffer]) -> list[AbortedTransaction]:
    """The aborted transactions that lie in what is returned."""
    if not batches or not log.state.aborted:
        return []
    end_offset = read_header(batches[-1]).last_offset + 1
    found = aborted_transactions(log.state, OffsetRange(fetch_offset, end_offset))
    return [AbortedTransaction(aborted.producer_id, aborted.first_offset) for aborted in found]


def check_leader_epoch(client_epoch: int) -> ErrorCode | None:
    """KIP-320: a client that knows another leader epoch has old metadata, or we do."""
    if client_epoch in (NO_LEADER_EPOCH, LEADER_EPOCH):
        return None
    return ErrorCode.FENCED_LEADER_EPOCH if client_epoch < LEADER_EPOCH else ErrorCode.UNKNOWN_LEADER_EPOCH


def _refused(target: FetchTarget, error_code: ErrorCode) -> PartitionData:
    return PartitionData(
        partition_index=target.key.partition,
        error_code=error_code,
        high_watermark=NO_OFFSET,
        last_stable_offset=NO_OFFSET,
        log_start_offset=NO_OFFSET,
        aborted_transactions=None,
        records=[],
    )
