"""DescribeTopicPartitions (75), version 0: topics and their partitions in order of name, page by page (KIP-966).

A page has at most the client's limit of partitions, and at most 2,000. The cursor of the answer says where the next
page begins. Topics that do not exist count as one partition, so that every answer makes progress.
"""

from collections.abc import Iterator

from fencepost.broker.authorized_operations import TOPIC_OPERATIONS
from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import check_name
from fencepost.broker.core import BrokerCore
from fencepost.broker.handlers.metadata import describe_topic
from fencepost.errors import ErrorCode
from fencepost.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

PARTITIONS_PER_PAGE_MAX = 2000


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: DescribeTopicPartitionsRequest = call.request
    asked_for = sorted({topic.name for topic in request.topics})
    cursor = request.cursor
    if cursor is not None and (cursor.partition_index < 0 or (asked_for and cursor.topic_name not in asked_for)):
        refused = [
            DescribeTopicPartitionsResponseTopic(error_code=ErrorCode.INVALID_REQUEST, name=topic.name)
            for topic in request.topics
        ]
        return core.reply(DescribeTopicPartitionsResponse(topics=refused))
    names = asked_for or sorted(core.state.catalogue.topics)
    limit = max(1, min(request.response_partition_limit, PARTITIONS_PER_PAGE_MAX))
    return core.reply(_page(_from(core, names, cursor), limit))


def _from(
    core: BrokerCore, names: list[str], cursor: Cursor | None
) -> Iterator[tuple[DescribeTopicPartitionsResponseTopic, int]]:
    """Each topic from the cursor on, whole, with the first partition to show of it."""
    for name in names:
        if cursor is None or name > cursor.topic_name:
            yield _describe(core, name), 0
        elif name == cursor.topic_name:
            yield _describe(core, name), cursor.partition_index


def _page(
    topics: Iterator[tuple[DescribeTopicPartitionsResponseTopic, int]], limit: int
) -> DescribeTopicPartitionsResponse:
    page = DescribeTopicPartitionsResponse()
    room = limit
    for topic, first_partition in topics:
        if not room:
            page.next_cursor = Cursor(topic.name or "", first_partition)
            break
        end = first_partition + room
        if len(topic.partitions) > end:
            page.next_cursor = Cursor(topic.name or "", end)
        topic.partitions = topic.partitions[first_partition:end]
        page.topics.append(topic)
        if page.next_cursor is not None:
            break
        room -= max(1, len(topic.partitions))
    return page


def _describe(core: BrokerCore, name: str) -> DescribeTopicPartitionsResponseTopic:
    topic = core.state.catalogue.topics.get(name)
    if topic is None:
        illegal = check_name(name)
        error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if illegal is None else illegal.error_code
        return DescribeTopicPartitionsResponseTopic(error_code, name, topic_authorized_operations=TOPIC_OPERATIONS)
    described = describe_topic(core, topic)
    return DescribeTopicPartitionsResponseTopic(
        name=name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                partition_index=partition.partition_index,
                leader_id=partition.leader_id,
                leader_epoch=partition.leader_epoch,
                replica_nodes=partition.replica_nodes,
                isr_nodes=partition.isr_nodes,
                eligible_leader_replicas=[],
                last_known_elr=[],
            )
            for partition in described.partitions
        ],
        topic_authorized_operations=TOPIC_OPERATIONS,
    )
