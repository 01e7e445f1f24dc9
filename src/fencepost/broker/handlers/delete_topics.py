"""DeleteTopics (20), versions 1 to 6, by name or, from v6, by id. Offsets that groups committed for the topic go
with it."""

from collections import Counter

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import decide_delete_topic
from fencepost.broker.core import BrokerCore, to_values
from fencepost.broker.fetching import retry_fetches
from fencepost.broker.group_coordinator import to_records
from fencepost.errors import ErrorCode, Refusal
from fencepost.groups.deletion import decide_partitions_deleted
from fencepost.types import NO_TOPIC_ID, TopicPartition
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
    named = Counter(_name_of(core, topic) or topic.topic_id for topic in wanted)
    once = {_name_of(core, topic) or topic.topic_id: topic for topic in wanted}
    responses = [_delete(core, call, topic, is_twice=named[key] > 1) for key, topic in once.items()]
    return core.reply(DeleteTopicsResponse(responses=responses))


def _name_of(core: BrokerCore, wanted: DeleteTopicState) -> str | None:
    return core.state.catalogue.names_by_id.get(wanted.topic_id) if wanted.name is None else wanted.name


def _delete(core: BrokerCore, call: Call, wanted: DeleteTopicState, *, is_twice: bool) -> DeletableTopicResult:
    name = _name_of(core, wanted)
    result = DeletableTopicResult(name=name, topic_id=wanted.topic_id, error_message=None)
    record = _refuse(core, wanted, is_twice=is_twice) or decide_delete_topic(core.state.catalogue, name or "")
    if isinstance(record, Refusal):
        result.error_code, result.error_message = record.error_code, record.message
        return result
    topic = core.state.catalogue.topics[record["name"]]
    partitions = [TopicPartition(topic.name, index) for index in range(len(topic.partition_refs))]
    decisions = decide_partitions_deleted(core.state.groups, partitions)
    now_ms = call.now.wall_ms
    core.writer.reserve_records(
        [to_values(record, now_ms=now_ms), *(to_records(decision, call.now) for decision in decisions)]
    )
    waiting = core.parked_fetches.waiting_for(core.state.logs[partition] for partition in partitions)
    core.append_to_catalogue(record, now_ms=now_ms)
    retry_fetches(core, waiting, is_last_try=False)
    for decision in decisions:
        core.groups.run(decision, now=call.now)
    result.topic_id = topic.topic_id
    return result


def _refuse(core: BrokerCore, wanted: DeleteTopicState, *, is_twice: bool) -> Refusal | None:
    if is_twice:
        return Refusal(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    if (wanted.name is None) == (wanted.topic_id == NO_TOPIC_ID):
        return Refusal(ErrorCode.INVALID_REQUEST, "a topic is named by its name or by its id, not by both or neither")
    if _name_of(core, wanted) is None:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_ID, "no topic has this id")
    if not core.settings.delete_topic_enable:
        return Refusal(ErrorCode.TOPIC_DELETION_DISABLED, "delete.topic.enable is false")
    return None
