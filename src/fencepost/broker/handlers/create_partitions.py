"""CreatePartitions (37), versions 0 to 3: more partitions for a topic; never fewer.

`validate_only` decides and creates nothing. A manual assignment must have an entry for every new partition.
Differences from Kafka: which brokers an assignment names is not looked at, for one copy is kept here whatever is
asked; the partition count of internal topics is fixed, because it places groups and transactional ids.
"""

from collections import Counter

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import CatalogueRecord, decide_add_partitions
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode, Refusal
from fencepost.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: CreatePartitionsRequest = call.request
    named = Counter(topic.name for topic in request.topics)
    once = {topic.name: topic for topic in request.topics}
    results = [_create(core, call, topic, is_twice=named[name] > 1) for name, topic in once.items()]
    return core.reply(CreatePartitionsResponse(results=results))


def _create(
    core: BrokerCore, call: Call, wanted: CreatePartitionsTopic, *, is_twice: bool
) -> CreatePartitionsTopicResult:
    record = Refusal(ErrorCode.INVALID_REQUEST, "Duplicate topic name.") if is_twice else _decide(core, wanted)
    if isinstance(record, Refusal):
        return CreatePartitionsTopicResult(wanted.name, record.error_code, record.message)
    if not call.request.validate_only:
        core.append_to_catalogue(record, now_ms=call.now.wall_ms)
    return CreatePartitionsTopicResult(wanted.name)


def _decide(core: BrokerCore, wanted: CreatePartitionsTopic) -> CatalogueRecord | Refusal:
    record = decide_add_partitions(core.state.catalogue, wanted.name, partition_count=wanted.count)
    if isinstance(record, Refusal) or wanted.assignments is None or len(wanted.assignments) == record["partitions"]:
        return record
    return Refusal(
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        f"Attempted to add {record['partitions']} additional partition(s), but only {len(wanted.assignments)} "
        "assignment(s) were specified.",
    )
