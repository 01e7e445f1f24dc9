"""From where a micro-batch begins to where it may end at most, as the topics are by now. Pure.

A partition that was not there before is first written down with its earliest offset, and read from the next micro-
batch on: so its beginning is in the offset log before anything of it is read, and a restart begins at the same
record. The same is done with a topic that was created anew. Topics that the options no longer name are dropped.

Records that the query should have read and that are gone are an error that says what, or a warning (`LossPolicy`). A
hole left by markers, by aborted transactions or by compaction is no loss; those offsets hold nothing for a reader.
"""

import logging
from collections.abc import Callable, Iterable
from typing import NamedTuple
from uuid import UUID

from fencepost.errors import FencepostError
from fencepost.spark.offsets import SourceOffsets
from fencepost.types import NO_TOPIC_ID, TopicPartition

logger = logging.getLogger("fencepost.spark")

HOW_TO_GO_ON = (
    "To accept the loss and read on from the first available offset, set the option failOnDataLoss to false for one run"
)


class DataLoss(FencepostError):  # noqa: N818 - it names what happened
    """What the checkpoint says to read next is not there any more."""


class LossPolicy(NamedTuple):
    fail_on_data_loss: bool

    def report(self, loss: str) -> None:
        if self.fail_on_data_loss:
            raise DataLoss(f"{loss}. {HOW_TO_GO_ON}.")
        logger.warning("%s. Reading on from the first available offset, because failOnDataLoss is false.", loss)


def overtaken(topic_partition: TopicPartition, *, expected: int, available: int) -> str:
    return (
        f"records of {_named(topic_partition)} are gone before they were read: expected offset {expected}, first "
        f"available {available}, {available - expected} offsets are missing. Retention (retention.ms, retention.bytes) "
        "or a deletion of records overtook the query: raise retention, or let the query run more often"
    )


def truncated(topic_partition: TopicPartition, *, expected: int, available: int) -> str:
    return (
        f"{_named(topic_partition)} ends at offset {available}, but records up to offset {expected} were read from it "
        "already: the partition has lost its end, as after the unclean election of a leader, or another cluster "
        "answers here"
    )


def replaced(topic: str, *, expected: UUID, found: UUID) -> str:
    return (
        f"topic {topic} was deleted and created again (its id was {expected}, and is {found}): what was left to read "
        "of the first one is gone, and offsets of the checkpoint mean nothing in the second"
    )


def deleted(topic: str) -> str:
    return f"topic {topic} was deleted: what was left to read of it is gone"


def trimmed(topic_partition: TopicPartition, *, available: int) -> str:
    return (
        f"{_named(topic_partition)} was added while the query ran, and its first available offset is {available}: "
        f"expected offset 0, {available} offsets are missing"
    )


def _named(topic_partition: TopicPartition) -> str:
    return f"topic {topic_partition.topic}, partition {topic_partition.partition}"


Earliest = Callable[[Iterable[TopicPartition]], dict[TopicPartition, int]]


class OtherCluster(FencepostError):  # noqa: N818 - it names what was found
    """The checkpoint belongs to another cluster."""


class Course(NamedTuple):
    """`start` and `end` are of the same partitions, those that can be read; `begun` are the others, at their start."""

    start: dict[TopicPartition, int]
    end: dict[TopicPartition, int]
    begun: dict[TopicPartition, int]


def check_cluster(start: SourceOffsets, cluster_id: str | None) -> None:
    if None not in (start.cluster_id, cluster_id) and start.cluster_id != cluster_id:
        raise OtherCluster(
            f"the checkpoint holds offsets of cluster {start.cluster_id}, and kafka.bootstrap.servers leads to cluster "
            f"{cluster_id}, where they mean nothing: correct the address, or start with a new checkpoint"
        )


def plot_course(
    start: SourceOffsets,
    latest: SourceOffsets,
    *,
    earliest: Earliest,
    is_chosen: Callable[[str], bool],
    policy: LossPolicy,
) -> Course:
    """`latest` is where the chosen partitions end now."""
    check_cluster(start, latest.cluster_id)
    _report_deleted(start, latest, is_chosen, policy)
    others = {topic for topic in start.topics if is_replaced(start, latest, topic)}
    for topic in sorted(others):
        policy.report(replaced(topic, expected=start.topic_id(topic), found=latest.topic_id(topic)))
    kept = {
        topic_partition: offset
        for topic_partition, offset in start.positions.items()
        if topic_partition in latest.positions and topic_partition.topic not in others
    }
    for topic_partition, offset in kept.items():
        if latest.positions[topic_partition] < offset:
            policy.report(truncated(topic_partition, expected=offset, available=latest.positions[topic_partition]))
    begun = earliest([topic_partition for topic_partition in latest.positions if topic_partition not in kept])
    known = {topic_partition.topic for topic_partition in kept}
    for topic_partition, offset in begun.items():
        if offset > 0 and topic_partition.topic in known:
            policy.report(trimmed(topic_partition, available=offset))
    return Course(kept, {topic_partition: latest.positions[topic_partition] for topic_partition in kept}, begun)


def is_replaced(start: SourceOffsets, latest: SourceOffsets, topic: str) -> bool:
    before, after = start.topic_id(topic), latest.topic_id(topic)
    return before != after and NO_TOPIC_ID not in (before, after)


def _report_deleted(
    start: SourceOffsets, latest: SourceOffsets, is_chosen: Callable[[str], bool], policy: LossPolicy
) -> None:
    there = set(latest.topics)
    for topic in start.topics:
        if topic in there:
            continue
        if is_chosen(topic):
            policy.report(deleted(topic))
        else:
            logger.warning("topic %s is not among those to read any more; its offsets are dropped", topic)
