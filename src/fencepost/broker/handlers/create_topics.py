"""CreateTopics (19), versions 2 to 7. v5 answers with the topic's settings; v7 with its id.

A replication factor above one is accepted and one copy is kept. Manual assignments only count partitions.
`validate_only` decides, describes and creates nothing.
"""

from collections import Counter

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import CatalogueRecord, Topic, topic_of
from fencepost.broker.core import BrokerCore
from fencepost.broker.described_settings import describe_topic_settings
from fencepost.errors import ErrorCode, Refusal
from fencepost.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: CreateTopicsRequest = call.request
    named = Counter(topic.name for topic in request.topics)
    once = {topic.name: topic for topic in request.topics}
    results = [_create(core, call, topic, is_twice=named[name] > 1) for name, topic in once.items()]
    return core.reply(CreateTopicsResponse(topics=results))


def _create(core: BrokerCore, call: Call, wanted: CreatableTopic, *, is_twice: bool) -> CreatableTopicResult:
    record = _decide(core, wanted, is_twice=is_twice)
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
        configs=_describe_settings(core, topic),
    )


def _decide(core: BrokerCore, wanted: CreatableTopic, *, is_twice: bool) -> CatalogueRecord | Refusal:
    if is_twice:
        return Refusal(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    partition_count, replication_factor = wanted.num_partitions, wanted.replication_factor
    if wanted.assignments:
        if partition_count != -1 or replication_factor != -1:
            return Refusal(
                ErrorCode.INVALID_REQUEST, "give a manual assignment, or partitions and replication factor, not both"
            )
        if sorted(assignment.partition_index for assignment in wanted.assignments) != list(
            range(len(wanted.assignments))
        ):
            return Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "assigned partitions must be numbered from 0 on")
        partition_count = len(wanted.assignments)
        replication_factor = max(len(assignment.broker_ids) for assignment in wanted.assignments)
    if any(config.value is None for config in wanted.configs):
        return Refusal(ErrorCode.INVALID_CONFIG, "a setting without a value was given")
    return core.decide_topic(
        wanted.name,
        partition_count=partition_count,
        replication_factor=replication_factor,
        overrides={config.name: config.value or "" for config in wanted.configs},
    )


def _describe_settings(core: BrokerCore, topic: Topic) -> list[CreatableTopicConfigs]:
    return [
        CreatableTopicConfigs(name=setting.name, value=setting.value, config_source=setting.source)
        for setting in describe_topic_settings(topic, core.settings)
    ]
