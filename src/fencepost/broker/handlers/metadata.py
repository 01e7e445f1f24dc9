"""Metadata (3), versions 0 to 13: the one broker, and topics with their partitions. Creates topics if it may.

v0: an empty list means all topics; from v1 null does, and an empty list means none. v4 the client may forbid
creation. v8 authorized operations; v10 topic ids; v12 topics may be asked for by id alone.
Differences from Kafka: a topic that is created here is described in the same answer; Kafka says that it is not there
yet, and has the client ask again.
"""

from fencepost.broker.authorized_operations import CLUSTER_OPERATIONS, NOT_ASKED, TOPIC_OPERATIONS
from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import INTERNAL_TOPICS, Topic
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode, Refusal
from fencepost.types import NO_TOPIC_ID
from fencepost.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

BY_ID_SINCE_VERSION = 12


def handle(core: BrokerCore, call: Call) -> Outcome:
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
    operations = CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else NOT_ASKED
    return core.reply(
        MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=node_id, host=host, port=port)],
            cluster_id=catalogue.cluster_id,
            controller_id=node_id,
            topics=topics,
            cluster_authorized_operations=operations,
        )
    )


def _find_or_create(core: BrokerCore, call: Call, wanted: MetadataRequestTopic) -> MetadataResponseTopic:
    catalogue = core.state.catalogue
    if call.api_version < BY_ID_SINCE_VERSION and (wanted.name is None or wanted.topic_id != NO_TOPIC_ID):
        return MetadataResponseTopic(error_code=ErrorCode.INVALID_REQUEST, name=wanted.name or "")
    # Java's admin client sends an empty name beside an id.
    if wanted.name is None or wanted.topic_id != NO_TOPIC_ID:
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
    logs_by_ref = core.state.logs_by_ref
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            MetadataResponsePartition(
                partition_index=partition,
                leader_id=node_id,
                leader_epoch=logs_by_ref[partition_ref].state.leader_epochs.latest,
                replica_nodes=[node_id],
                isr_nodes=[node_id],
            )
            for partition, partition_ref in enumerate(topic.partition_refs)
        ],
    )
