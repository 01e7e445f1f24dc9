"""Topics: made, given more partitions, deleted, and shortened from the front.

A topic that stands in a request twice is refused once, where the answer has one row for it. `validate_only` decides and
changes nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import (
    INTERNAL_TOPICS,
    CatalogueRecord,
    decide_add_partitions,
    decide_delete_topic,
    topic_of,
)
from fencepost.broker.configs import describe_topic_settings
from fencepost.broker.core import BrokerCore, to_values
from fencepost.broker.fetching import retry_fetches
from fencepost.broker.group_coordinator import to_records
from fencepost.errors import ErrorCode, Refusal
from fencepost.groups.deletion import decide_partitions_deleted
from fencepost.partition.visibility import decide_delete_records
from fencepost.types import NO_OFFSET, NO_TOPIC_ID, TopicPartition
from fencepost.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from fencepost.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from fencepost.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from fencepost.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

TOPIC_IDS_SINCE_VERSION = 6
NAMED_TWICE = Refusal(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")

Wanted = TypeVar("Wanted")


def _once(topics: Iterable[Wanted], key: Callable[[Wanted], object]) -> list[tuple[Wanted, Refusal | None]]:
    """Each topic of a request once, with the refusal of one that stands there twice."""
    counts = Counter(map(key, topics))
    by_key = {key(topic): topic for topic in topics}
    return [(topic, NAMED_TWICE if counts[each] > 1 else None) for each, topic in by_key.items()]


def create_topics(core: BrokerCore, call: Call) -> Outcome:
    """CreateTopics (19), versions 2 to 7. v5 answers with the topic's settings; v7 with its id.

    A replication factor above one is accepted and one copy is kept. Manual assignments only count partitions.
    """
    request: CreateTopicsRequest = call.request
    results = [_create_topic(core, call, *each) for each in _once(request.topics, lambda topic: topic.name)]
    return core.reply(CreateTopicsResponse(topics=results))


def _create_topic(
    core: BrokerCore, call: Call, wanted: CreatableTopic, refusal: Refusal | None
) -> CreatableTopicResult:
    record = refusal or _decide_topic(core, wanted)
    if isinstance(record, Refusal):
        return CreatableTopicResult(name=wanted.name, error_code=record.error_code, error_message=record.message)
    if call.request.validate_only:
        topic = topic_of(core.state.catalogue, record)
    else:
        topic = core.create_topic(record, now_ms=call.now.wall_ms)
    return CreatableTopicResult(
        name=topic.name,
        topic_id=topic.topic_id,
        error_message=None,
        num_partitions=len(topic.partition_refs),
        replication_factor=topic.replication_factor,
        configs=[
            CreatableTopicConfigs(name=setting.name, value=setting.value, config_source=setting.source)
            for setting in describe_topic_settings(topic, core.settings)
        ],
    )


def _decide_topic(core: BrokerCore, wanted: CreatableTopic) -> CatalogueRecord | Refusal:
    partition_count, replication_factor = wanted.num_partitions, wanted.replication_factor
    if wanted.assignments:
        if partition_count != -1 or replication_factor != -1:
            return Refusal(
                ErrorCode.INVALID_REQUEST, "give a manual assignment, or partitions and replication factor, not both"
            )
        partition_count = len(wanted.assignments)
        if {assignment.partition_index for assignment in wanted.assignments} != set(range(partition_count)):
            return Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "assigned partitions must be numbered from 0 on")
        replication_factor = max(len(assignment.broker_ids) for assignment in wanted.assignments)
    if any(config.value is None for config in wanted.configs):
        return Refusal(ErrorCode.INVALID_CONFIG, "a setting without a value was given")
    return core.decide_topic(
        wanted.name,
        partition_count=partition_count,
        replication_factor=replication_factor,
        overrides={config.name: config.value or "" for config in wanted.configs},
    )


def create_partitions(core: BrokerCore, call: Call) -> Outcome:
    """CreatePartitions (37), versions 0 to 3: more partitions for a topic; never fewer.

    A manual assignment must have an entry for every new partition.
    Differences from Kafka: which brokers an assignment names is not looked at, for one copy is kept here whatever is
    asked; the partition count of internal topics is fixed, because it places groups and transactional ids.
    """
    request: CreatePartitionsRequest = call.request
    results = [_create_partitions(core, call, *each) for each in _once(request.topics, lambda topic: topic.name)]
    return core.reply(CreatePartitionsResponse(results=results))


def _create_partitions(
    core: BrokerCore, call: Call, wanted: CreatePartitionsTopic, refusal: Refusal | None
) -> CreatePartitionsTopicResult:
    record = refusal or _decide_partitions(core, wanted)
    if isinstance(record, Refusal):
        return CreatePartitionsTopicResult(wanted.name, record.error_code, record.message)
    if not call.request.validate_only:
        core.append_to_catalogue(record, now_ms=call.now.wall_ms)
    return CreatePartitionsTopicResult(wanted.name)


def _decide_partitions(core: BrokerCore, wanted: CreatePartitionsTopic) -> CatalogueRecord | Refusal:
    record = decide_add_partitions(core.state.catalogue, wanted.name, partition_count=wanted.count)
    if isinstance(record, Refusal) or wanted.assignments is None or len(wanted.assignments) == record["partitions"]:
        return record
    return Refusal(
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        f"Attempted to add {record['partitions']} additional partition(s), but only {len(wanted.assignments)} "
        "assignment(s) were specified.",
    )


def delete_topics(core: BrokerCore, call: Call) -> Outcome:
    """DeleteTopics (20), versions 1 to 6, by name or, from v6, by id. Offsets that groups committed for the topic go
    with it."""
    request: DeleteTopicsRequest = call.request
    if call.api_version >= TOPIC_IDS_SINCE_VERSION:
        wanted = request.topics
    else:
        wanted = [DeleteTopicState(name=name) for name in request.topic_names]
    once = _once(wanted, lambda topic: _name_of(core, topic) or topic.topic_id)
    responses = [_delete_topic(core, call, *each) for each in once]
    return core.reply(DeleteTopicsResponse(responses=responses))


def _name_of(core: BrokerCore, wanted: DeleteTopicState) -> str | None:
    return core.state.catalogue.names_by_id.get(wanted.topic_id) if wanted.name is None else wanted.name


def _delete_topic(
    core: BrokerCore, call: Call, wanted: DeleteTopicState, refusal: Refusal | None
) -> DeletableTopicResult:
    name = _name_of(core, wanted)
    result = DeletableTopicResult(name=name, topic_id=wanted.topic_id, error_message=None)
    record = refusal or _refuse(core, wanted) or decide_delete_topic(core.state.catalogue, name or "")
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


def _refuse(core: BrokerCore, wanted: DeleteTopicState) -> Refusal | None:
    if (wanted.name is None) == (wanted.topic_id == NO_TOPIC_ID):
        return Refusal(ErrorCode.INVALID_REQUEST, "a topic is named by its name or by its id, not by both or neither")
    if _name_of(core, wanted) is None:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_ID, "no topic has this id")
    if not core.settings.delete_topic_enable:
        return Refusal(ErrorCode.TOPIC_DELETION_DISABLED, "delete.topic.enable is false")
    return None


def delete_records(core: BrokerCore, call: Call) -> Outcome:
    """DeleteRecords (21), versions 0 to 2: the start of a partition moves up; records before it can no longer be read.

    Offset -1 means all that can be seen. The new start is journalled and survives a restart; the bytes go when the
    journal is cleaned. Internal topics and topics that are only compacted are refused, as in Kafka.
    """
    request: DeleteRecordsRequest = call.request
    topics = [
        DeleteRecordsTopicResult(
            topic.name, [_delete_records(core, call, topic.name, partition) for partition in topic.partitions]
        )
        for topic in request.topics
    ]
    return core.reply(DeleteRecordsResponse(topics=topics))


def _delete_records(
    core: BrokerCore, call: Call, topic: str, wanted: DeleteRecordsPartition
) -> DeleteRecordsPartitionResult:
    log = core.log(topic, wanted.partition_index)
    if log is None:
        return _refused(wanted, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if topic in INTERNAL_TOPICS:
        return _refused(wanted, ErrorCode.INVALID_TOPIC_EXCEPTION)
    if "delete" not in core.state.catalogue.topics[topic].settings.cleanup_policy:
        return _refused(wanted, ErrorCode.POLICY_VIOLATION)
    start_offset = decide_delete_records(log.state, wanted.offset)
    if isinstance(start_offset, Refusal):
        return _refused(wanted, start_offset.error_code)
    if start_offset > log.state.log_start_offset:
        record = {"kind": "log-start-moved", "starts": [[log.partition_ref, start_offset]]}
        core.append_to_catalogue(record, now_ms=call.now.wall_ms)
    return DeleteRecordsPartitionResult(wanted.partition_index, start_offset)


def _refused(wanted: DeleteRecordsPartition, error_code: ErrorCode) -> DeleteRecordsPartitionResult:
    return DeleteRecordsPartitionResult(wanted.partition_index, NO_OFFSET, error_code)
