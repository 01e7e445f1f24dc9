"""Topics of an offset commit, plain or transactional: names resolved, and what does not exist refused one by one."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from fencepost.errors import ErrorCode
from fencepost.groups.replies import PartitionError, TopicErrors
from fencepost.groups.requests import OffsetCommitPartition, OffsetCommitTopic
from fencepost.types import NO_TOPIC_ID, TopicPartition

if TYPE_CHECKING:
    from fencepost.broker.core import BrokerCore


class CommittedPartition(Protocol):
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None


class CommittedTopic(Protocol):
    name: str

    @property
    def partitions(self) -> Sequence[CommittedPartition]: ...


def split_topics(
    core: "BrokerCore", topics: Iterable[CommittedTopic], *, by_id: bool = False
) -> tuple[tuple[OffsetCommitTopic, ...], list[TopicErrors]]:
    """What can be committed, and the refusals of the rest."""
    known, refused = [], []
    for topic in topics:
        topic_id = getattr(topic, "topic_id", NO_TOPIC_ID)
        name = core.state.catalogue.names_by_id.get(topic_id, "") if by_id else topic.name
        unknown = ErrorCode.UNKNOWN_TOPIC_ID if by_id and not name else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        good, bad = [], []
        for partition in topic.partitions:
            if TopicPartition(name, partition.partition_index) in core.state.logs:
                good.append(
                    OffsetCommitPartition(
                        partition.partition_index,
                        partition.committed_offset,
                        partition.committed_leader_epoch,
                        partition.committed_metadata,
                    )
                )
            else:
                bad.append(PartitionError(partition.partition_index, unknown))
        if good:
            stored_id = core.state.catalogue.topics[name].topic_id
            known.append(OffsetCommitTopic(name, tuple(good), stored_id))
        if bad:
            refused.append(TopicErrors(name, tuple(bad), topic_id))
    return tuple(known), refused


def join_errors(answered: Iterable[TopicErrors], refused: Iterable[TopicErrors]) -> list[TopicErrors]:
    """One row for each topic, with the partitions of both."""
    rows: dict[tuple[str, UUID], TopicErrors] = {}
    for topic in (*answered, *refused):
        key = (topic.name, topic.topic_id if not topic.name else NO_TOPIC_ID)
        before = rows.get(key)
        rows[key] = topic if before is None else before._replace(partitions=before.partitions + topic.partitions)
    return list(rows.values())
