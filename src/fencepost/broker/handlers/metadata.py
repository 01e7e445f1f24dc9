"""What there is and where: topics and partitions, the one broker, its data folder, coordinators.

What a client may do goes with the answers that include it when asked, as a bit field of ACL operations. No client is
kept from anything, so it is all that the kind of resource knows: what Kafka answers without an authorizer.
"""

from collections.abc import Iterator

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.broker.catalogue import INTERNAL_TOPICS, Topic, check_name
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.partition import LEADER_EPOCH
from fencepost.types import NO_TOPIC_ID, TopicPartition
from fencepost.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from fencepost.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from fencepost.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from fencepost.wire.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from fencepost.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

NOT_ASKED = -(2**31)
CLUSTER_OPERATIONS = 8096
TOPIC_OPERATIONS = 3576
GROUP_OPERATIONS = 3400

BY_ID_SINCE_VERSION = 12
PARTITIONS_PER_PAGE_MAX = 2000
BROKERS, CONTROLLERS = 1, 2
GROUP, TRANSACTION = 0, 1
KEYS_SINCE_VERSION = 4
NO_NODE = -1


def metadata(core: BrokerCore, call: Call) -> Outcome:
    """Metadata (3), versions 0 to 13: the one broker, and topics with their partitions. Creates topics if it may.

    v0: an empty list means all topics; from v1 null does, and an empty list means none. v4 the client may forbid
    creation. v8 authorized operations; v10 topic ids; v12 topics may be asked for by id alone.
    Differences from Kafka: a topic that is created here is described in the same answer; Kafka answers that it is not
    there yet, and has the client ask again.
    """
    request: MetadataRequest = call.request
    catalogue = core.state.catalogue
    asks_for_all = request.topics is None or (call.api_version == 0 and not request.topics)
    if asks_for_all:
        topics = [describe_topic(core, topic) for topic in catalogue.topics.values()]
    else:
        topics = [_find_or_create(core, call, wanted) for wanted in request.topics or ()]
    if request.include_topic_authorized_operations:
        for topic in topics:
            topic.topic_authorized_operations = TOPIC_OPERATIONS
    host, port = core.listener
    node_id = core.settings.node_id
    return core.reply(
        MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=node_id, host=host, port=port)],
            cluster_id=catalogue.cluster_id,
            controller_id=node_id,
            topics=topics,
            cluster_authorized_operations=_cluster_operations(is_asked=request.include_cluster_authorized_operations),
        )
    )


def _cluster_operations(*, is_asked: bool) -> int:
    return CLUSTER_OPERATIONS if is_asked else NOT_ASKED


def _find_or_create(core: BrokerCore, call: Call, wanted: MetadataRequestTopic) -> MetadataResponseTopic:
    catalogue = core.state.catalogue
    # Java's admin client sends an empty name beside an id.
    if wanted.name is None or wanted.topic_id != NO_TOPIC_ID:
        if call.api_version < BY_ID_SINCE_VERSION:
            return MetadataResponseTopic(error_code=ErrorCode.INVALID_REQUEST, name=wanted.name or "")
        topic = catalogue.topic_by_id(wanted.topic_id)
        if topic is None:
            return MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_ID, name=None, topic_id=wanted.topic_id)
        return describe_topic(core, topic)
    topic = catalogue.topics.get(wanted.name)
    if topic is not None:
        return describe_topic(core, topic)
    may_create = call.request.allow_auto_topic_creation and core.settings.auto_create_topics_enable
    if not may_create or wanted.name in INTERNAL_TOPICS:
        return MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name=wanted.name)
    record = core.decide_topic(wanted.name)
    if isinstance(record, Refusal):
        return MetadataResponseTopic(error_code=record.error_code, name=wanted.name)
    return describe_topic(core, core.create_topic(record, now_ms=call.now.wall_ms))


def describe_topic(core: BrokerCore, topic: Topic) -> MetadataResponseTopic:
    """One copy of each partition is kept, whatever replication factor was asked for."""
    node_id = core.settings.node_id
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            MetadataResponsePartition(
                partition_index=partition,
                leader_id=node_id,
                leader_epoch=LEADER_EPOCH,
                replica_nodes=[node_id],
                isr_nodes=[node_id],
            )
            for partition in range(len(topic.partition_refs))
        ],
    )


def describe_topic_partitions(core: BrokerCore, call: Call) -> Outcome:
    """DescribeTopicPartitions (75), version 0: topics and their partitions in order of name, page by page (KIP-966).

    A page has at most the client's limit of partitions, and at most 2,000. The cursor of the answer says where the next
    page begins. Topics that do not exist count as one partition, so that every answer makes progress.
    """
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


def describe_cluster(core: BrokerCore, call: Call) -> Outcome:
    """DescribeCluster (60), versions 0 to 2: the one broker, which is its own controller.

    v1 endpoint types: this is an endpoint for brokers; one for controllers (KIP-919) does not exist.
    """
    request: DescribeClusterRequest = call.request
    if request.endpoint_type != BROKERS:
        error_code, message = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {request.endpoint_type}"
        if request.endpoint_type == CONTROLLERS:
            error_code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
            message = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
        return core.reply(DescribeClusterResponse(error_code=error_code, error_message=message))
    host, port = core.listener
    node_id = core.settings.node_id
    return core.reply(
        DescribeClusterResponse(
            cluster_id=core.state.catalogue.cluster_id,
            controller_id=node_id,
            brokers=[DescribeClusterBroker(node_id, host, port)],
            cluster_authorized_operations=_cluster_operations(is_asked=request.include_cluster_authorized_operations),
        )
    )


def describe_log_dirs(core: BrokerCore, call: Call) -> Outcome:
    """DescribeLogDirs (35), versions 1 to 5: the data folder, and how much of the journal each partition takes up.

    v3 an error for the whole answer; v4 sizes of the volume; v5 cordoned folders (there are none).
    Differences from Kafka: partitions share the segments of one journal, so a size is the sum of the partition's
    batches, those that cleaning has yet to remove included; the size of the volume is not given (-1).
    """
    request: DescribeLogDirsRequest = call.request
    if request.topics is None:
        wanted = list(core.state.logs)
    else:
        named = (TopicPartition(topic.topic, index) for topic in request.topics for index in topic.partitions)
        wanted = [each for each in dict.fromkeys(named) if each in core.state.logs]
    topics: dict[str, DescribeLogDirsTopic] = {}
    for topic_partition in wanted:
        size_bytes = core.journal.size_bytes(core.state.logs[topic_partition].partition_ref)
        topic = topics.setdefault(topic_partition.topic, DescribeLogDirsTopic(topic_partition.topic))
        topic.partitions.append(DescribeLogDirsPartition(topic_partition.partition, size_bytes))
    result = DescribeLogDirsResult(log_dir=core.log_dir, topics=list(topics.values()))
    return core.reply(DescribeLogDirsResponse(results=[result]))


def find_coordinator(core: BrokerCore, call: Call) -> Outcome:
    """FindCoordinator (10), versions 0 to 6: every group and every transactional id lives here.

    v1 key types; v4 several keys. Share groups (key type 2) are not served.
    """
    request: FindCoordinatorRequest = call.request
    if call.api_version >= KEYS_SINCE_VERSION:
        found = [_find(core, key, request.key_type) for key in request.coordinator_keys]
        return Reply(FindCoordinatorResponse(coordinators=found))
    one = _find(core, request.key, request.key_type)
    return Reply(
        FindCoordinatorResponse(
            error_code=one.error_code,
            error_message=one.error_message,
            node_id=one.node_id,
            host=one.host,
            port=one.port,
        )
    )


def _find(core: BrokerCore, key: str, key_type: int) -> Coordinator:
    if key_type not in (GROUP, TRANSACTION):
        message = f"key type {key_type}: expected {GROUP} (group) or {TRANSACTION} (transaction)"
        return Coordinator(key, NO_NODE, error_code=ErrorCode.INVALID_REQUEST, error_message=message, port=-1)
    host, port = core.listener
    return Coordinator(key, core.settings.node_id, host, port, error_message=None)
