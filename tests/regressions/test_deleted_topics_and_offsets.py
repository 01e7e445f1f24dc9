"""Committed offsets go with their topic, whatever a full disk or a crash keeps of the deletion."""

from contextlib import suppress

import pytest

from fencepost.errors import ErrorCode
from fencepost.journal.disk import DiskFull
from fencepost.types import TopicPartition
from fencepost.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from tests.unit.broker.builders import Broker
from tests.unit.broker.cleaning_driver import SEGMENT_BYTES, small_broker

GROUPS = ("readers", "writers", "others", "watchers")


def delete(topic: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)])


def commit_offsets(broker: Broker, topic: str) -> None:
    for group_id in GROUPS:
        partitions = [OffsetCommitRequestPartition(partition_index=0, committed_offset=7)]
        topics = [OffsetCommitRequestTopic(name=topic, partitions=partitions)]
        reply = broker.ask(OffsetCommitRequest(group_id, -1, topics=topics), 8)
        assert reply.topics[0].partitions[0].error_code == ErrorCode.NONE


def offsets(broker: Broker, topic: str) -> list[int]:
    found = []
    for group_id in GROUPS:
        request = OffsetFetchRequest(group_id=group_id, topics=[OffsetFetchRequestTopic(topic, [0])])
        found.append(broker.ask(request, 7).topics[0].partitions[0].committed_offset)
    return found


@pytest.fixture
def broker() -> Broker:
    broker = Broker()
    broker.create_topic("events")
    commit_offsets(broker, "events")
    assert offsets(broker, "events") == [7] * len(GROUPS)
    return broker


@pytest.mark.parametrize("kept_entries", range(len(GROUPS) + 2))
def test_a_topic_created_again_does_not_inherit_offsets_after_a_crash_inside_the_deletion(
    broker: Broker, kept_entries: int
) -> None:
    """A crash keeps a prefix of what was appended: here exactly so many entries."""
    journal = broker.core.journal
    append, appended = journal.append, 0

    def append_and_crash(*entry: object) -> int:
        nonlocal appended
        appended += 1
        if appended > kept_entries:
            raise InterruptedError
        return append(*entry)  # type: ignore[arg-type]

    journal.append = append_and_crash  # type: ignore[method-assign,assignment]
    with suppress(InterruptedError):
        broker.send(delete("events"))
    journal.append = append  # type: ignore[method-assign]
    journal.commit()
    again = broker.after_kill()
    if kept_entries == 0:
        assert offsets(again, "events") == [7] * len(GROUPS)
        return
    if TopicPartition("events", 0) not in again.core.state.logs:
        again.create_topic("events")
        assert offsets(again, "events") == [-1] * len(GROUPS)
    assert offsets(again.after_kill(), "events") == offsets(again, "events")


@pytest.mark.parametrize("smallest_filler_bytes", [1, 32, 64, 128, 256, 512, 1024])
def test_a_disk_that_is_full_inside_the_deletion_leaves_all_of_it_undone(smallest_filler_bytes: int) -> None:
    broker = small_broker()
    broker.create_topic("filler")
    broker.create_topic("events")
    commit_offsets(broker, "events")
    broker.disk.capacity_bytes = 0
    size_bytes = SEGMENT_BYTES // 2
    while size_bytes >= smallest_filler_bytes:
        if broker.produce("filler", bytes(size_bytes)).error_code:
            size_bytes //= 2
    with suppress(DiskFull):
        broker.send(delete("events"))
    broker.disk.capacity_bytes = None
    is_there = TopicPartition("events", 0) in broker.core.state.logs
    assert offsets(broker, "events") == [7 if is_there else -1] * len(GROUPS)
