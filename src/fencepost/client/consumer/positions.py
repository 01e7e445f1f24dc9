"""Finds where to read: the committed offset, or where `auto.offset.reset` says, or where the program sought.

Also watches over topics: one that was deleted and created again has another id, and an offset of the old one means
nothing in the new one. That is handled like an offset out of range, never in silence.
"""

import logging

from fencepost.client.cluster import Cluster
from fencepost.client.consumer.assignment import Assignment, PartitionState, Start
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.exceptions import NoOffsetForPartition, OffsetOutOfRange
from fencepost.client.offsets import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    try_committed_offsets,
    try_list_offsets,
)
from fencepost.client.time_limits import Deadline
from fencepost.types import TopicPartition
from fencepost.wire.reading import ZERO_UUID

logger = logging.getLogger("fencepost.client")

RESET_START = {"earliest": Start.EARLIEST, "latest": Start.LATEST}
TIMESTAMP_OF = {Start.EARLIEST: EARLIEST_TIMESTAMP, Start.LATEST: LATEST_TIMESTAMP}


def resolve_positions(
    cluster: Cluster, settings: ConsumerSettings, states: list[PartitionState], deadline: Deadline
) -> None:
    """Give each of these partitions a position, or a problem. Raises `RetriableError` if some must be asked again."""
    _use_committed(cluster, settings, [state for state in states if state.start is Start.COMMITTED], deadline)
    timestamps = {
        state.topic_partition: TIMESTAMP_OF[state.start]
        for state in states
        if state.position is None and state.problem is None
    }
    if not timestamps:
        return
    found, problem = try_list_offsets(cluster, timestamps, deadline, is_read_committed=settings.is_read_committed)
    for state in states:
        if state.topic_partition in found:
            state.move_to(found[state.topic_partition].offset)
    if problem is not None:
        cluster.mark_stale()
        raise problem


def _use_committed(
    cluster: Cluster, settings: ConsumerSettings, states: list[PartitionState], deadline: Deadline
) -> None:
    if not states:
        return
    committed: dict[TopicPartition, int] = {}
    if settings.group_id:
        partitions = [state.topic_partition for state in states]
        found = try_committed_offsets(
            cluster, settings.group_id, partitions, deadline, is_read_committed=settings.is_read_committed
        )
        committed = {topic_partition: offset.offset for topic_partition, offset in found.items() if offset is not None}
    for state in states:
        offset = committed.get(state.topic_partition, state.first_position)
        if offset is not None:
            state.move_to(offset)
        elif settings.auto_offset_reset == "none":
            message = "there is no committed offset, and auto.offset.reset=none; seek to go on"
            state.problem = NoOffsetForPartition(state.topic_partition, None, message)
        else:
            state.start = RESET_START[settings.auto_offset_reset]


def reset(state: PartitionState, settings: ConsumerSettings, reason: str) -> None:
    """The position cannot be used: start where `auto.offset.reset` says, or fail."""
    if settings.auto_offset_reset == "none":
        message = f"{reason}, and auto.offset.reset=none; seek to go on"
        state.problem = OffsetOutOfRange(state.topic_partition, state.position, message)
        return
    logger.warning("%s: %s; starting from %s", state.topic_partition, reason, settings.auto_offset_reset)
    state.start_from(RESET_START[settings.auto_offset_reset])


def check_topic_ids(cluster: Cluster, settings: ConsumerSettings, assignment: Assignment) -> None:
    """Start again in partitions whose topic was replaced by another one of the same name."""
    metadata = cluster.metadata
    for state in assignment:
        topic_id = metadata.topic_id(state.topic_partition.topic)
        if topic_id in (ZERO_UUID, state.topic_id):
            continue
        if state.topic_id != ZERO_UUID and state.position is not None:
            state.first_position = None
            reset(state, settings, "the topic was deleted and created again")
        state.topic_id = topic_id
