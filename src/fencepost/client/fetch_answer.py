"""What an answer to Fetch means for one partition: records to keep, a place to start again from, a pause, a problem."""

import logging
import time

from fencepost.client.cluster import Cluster
from fencepost.client.consumer_assignment import Assignment, PartitionState, Start
from fencepost.client.consumer_exceptions import OffsetOutOfRange
from fencepost.client.consumer_settings import ConsumerSettings
from fencepost.client.error_table import REFRESH_METADATA, Category, category_of, error_of
from fencepost.client.fetch_chunk import FetchChunk
from fencepost.client.fetch_session import FetchTarget, Targets, is_same_topic
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition
from fencepost.wire.messages.fetch import PartitionData

logger = logging.getLogger("fencepost.client")


def take_answer(
    topic: str,
    answer: PartitionData,
    *,
    assignment: Assignment,
    targets: Targets,
    cluster: Cluster,
    settings: ConsumerSettings,
) -> None:
    """Act upon one partition's answer, unless it is to a question that is no longer asked."""
    where = TopicPartition(topic, answer.partition_index)
    state, target = assignment.get(where), targets.get(where)
    if state is None or target is None or state.position is None or not is_still_asked(state, target):
        return
    if answer.error_code == ErrorCode.NONE:
        _keep_records(state, answer, settings)
    elif answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
        if not state.has_something:
            reset(state, settings, f"offset {state.position} is out of range")
    elif (
        category_of(answer.error_code, "Fetch") is Category.RETRIABLE and answer.error_code != ErrorCode.CORRUPT_MESSAGE
    ):
        state.not_before_s = time.monotonic() + settings.retry_backoff_ms / 1000
        if answer.error_code in REFRESH_METADATA:
            cluster.mark_stale()
    else:
        state.problem = error_of(answer.error_code, "Fetch", what=f"{where} at offset {state.fetch_offset}")


def is_still_asked(state: PartitionState, target: FetchTarget) -> bool:
    """Whether this is what the partition wants by now: a new topic of the same name begins at the same offset 0."""
    return state.fetch_offset == target.fetch_offset and is_same_topic(state.topic_id, target.topic_id)


def reset(state: PartitionState, settings: ConsumerSettings, reason: str) -> None:
    """The position cannot be used: start where `auto.offset.reset` says, or fail."""
    if settings.auto_offset_reset == "none":
        message = f"{reason}, and auto.offset.reset=none; seek to go on"
        state.fail(OffsetOutOfRange(state.topic_partition, state.position, message))
        return
    logger.warning("%s: %s; starting from %s", state.topic_partition, reason, settings.auto_offset_reset)
    state.start_from(Start.EARLIEST if settings.auto_offset_reset == "earliest" else Start.LATEST)


def _keep_records(state: PartitionState, answer: PartitionData, settings: ConsumerSettings) -> None:
    state.last_stable_offset = answer.last_stable_offset
    records = answer.records[0] if answer.records else b""
    if not len(records):
        return
    aborted = [(row.producer_id, row.first_offset) for row in answer.aborted_transactions or ()]
    chunk = FetchChunk(
        state.topic_partition,
        records,
        fetch_offset=state.fetch_offset,
        aborted_transactions=aborted if settings.is_read_committed else None,
    )
    if not chunk.is_empty:
        state.keep(chunk)
    if chunk.damage is not None:
        state.fail(chunk.damage)
