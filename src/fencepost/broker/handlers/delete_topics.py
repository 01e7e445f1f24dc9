"""DeleteTopics (20), versions 1 to 6, by name or, from v6, by id. Offsets that groups committed for the topic go
with it."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import decide_delete_topic
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode, Refusal
from fencepost.groups.deletion import decide_partitions_deleted
from fencepost.types import TopicPartition
from fencepost.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

TOPIC_IDS_SINCE_VERSION = 6


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: DeleteTopicsRequest = call.request
    if call.api_version >= TOPIC_IDS_SINCE_VERSION:
        wanted = request.topics
    else:
        wanted = [DeleteTopicState(name=name) for name in request.topic_names]
    return core.reply(DeleteTopicsResponse(responses=[_delete(core, call, topic) for topic in wanted]))


def _delete(core: BrokerCore, call: Call, wanted: DeleteTopicState) -> DeletableTopicResult:
    name = wanted.name
    if name is None:
        name = core.state.catalogue.names_by_id.get(wanted.topic_id)
    if name is None:
        return DeletableTopicResult(
            name=None,
            topic_id=wanted.topic_id,
            error_code=ErrorCode.UNKNOWN_TOPIC_ID,
            error_message="no topic has this id",
        )
    if not core.settings.delete_topic_enable:
        refusal = Refusal(ErrorCode.TOPIC_DELETION_DISABLED, "delete.topic.enable is false")
        return DeletableTopicResult(name=name, error_code=refusal.error_code, error_message=refusal.message)
    record = decide_delete_topic(core.state.catalogue, name)
    if isinstance(record, Refusal):
        return DeletableTopicResult(name=name, error_code=record.error_code, error_message=record.message)
    topic = core.state.catalogue.topics[name]
    partitions = [TopicPartition(name, index) for index in range(len(topic.partition_refs))]
    core.append_to_catalogue(record, now_ms=call.now.wall_ms)
    for decision in decide_partitions_deleted(core.state.groups, partitions):
        core.groups.run(decision, now=call.now)
    return DeletableTopicResult(name=name, topic_id=topic.topic_id, error_message=None)
