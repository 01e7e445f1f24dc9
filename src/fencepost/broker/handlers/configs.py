"""Settings of topics, described and altered, and of this broker, described. The rules are in `broker/configs.py`.

Differences from Kafka: settings of the broker are read-only, for none can be changed while it runs, and there are no
defaults for all brokers (the broker with an empty name has no settings). Loggers, client metrics and groups have no
settings of their own. Those of internal topics cannot be altered; a topic needs a cleanup policy.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import CatalogueRecord, check_name
from fencepost.broker.configs import (
    Change,
    DescribedSetting,
    ResourceType,
    decide_increment,
    decide_replace,
    describe_broker_settings,
    describe_topic_settings,
    refuse_resource,
)
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode, Refusal
from fencepost.wire.messages import incremental_alter_configs as incremental
from fencepost.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from fencepost.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from fencepost.wire.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from fencepost.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

TYPES_SINCE_VERSION = 1


def describe_configs(core: BrokerCore, call: Call) -> Outcome:
    """DescribeConfigs (32), versions 1 to 4: settings of topics and of this broker, with their sources and synonyms.

    v3 types and documentation. `retention.ms` names the broker's `log.retention.ms` as its synonym; Kafka names none.
    """
    request: DescribeConfigsRequest = call.request
    return core.reply(
        DescribeConfigsResponse(results=[_describe(core, request, resource) for resource in request.resources])
    )


def _describe(
    core: BrokerCore, request: DescribeConfigsRequest, resource: DescribeConfigsResource
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(resource_type=resource.resource_type, resource_name=resource.resource_name)
    found = _find(core, resource)
    if isinstance(found, Refusal):
        result.error_code, result.error_message = found.error_code, found.message
        return result
    wanted = resource.configuration_keys
    result.configs = [_to_wire(setting, request) for setting in found if not wanted or setting.name in wanted]
    return result


def _find(core: BrokerCore, resource: DescribeConfigsResource) -> list[DescribedSetting] | Refusal:
    name = resource.resource_name
    if resource.resource_type == ResourceType.TOPIC:
        topic = core.state.catalogue.topics.get(name)
        if topic is None:
            return check_name(name) or Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return describe_topic_settings(topic, core.settings)
    if resource.resource_type == ResourceType.BROKER:
        node_id = str(core.settings.node_id)
        if name not in ("", node_id):
            message = f"Unexpected broker id, expected {node_id} or empty string, but received {name}"
            return Refusal(ErrorCode.INVALID_REQUEST, message)
        return describe_broker_settings(core.settings) if name else []
    return Refusal(
        ErrorCode.INVALID_REQUEST,
        f"resource type {resource.resource_type} has no settings here: expected {ResourceType.TOPIC} (topic) or "
        f"{ResourceType.BROKER} (broker)",
    )


def _to_wire(setting: DescribedSetting, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        name=setting.name,
        value=setting.value,
        read_only=setting.is_read_only,
        config_source=setting.source,
        synonyms=[DescribeConfigsSynonym(*synonym) for synonym in setting.synonyms] if request.include_synonyms else [],
        config_type=setting.config_type,
        documentation=setting.documentation if request.include_documentation else None,
    )


def list_config_resources(core: BrokerCore, call: Call) -> Outcome:
    """ListConfigResources (74), versions 0 and 1: which resources have settings to describe.

    v0 lists client metrics subscriptions, of which there are none; v1 names the types, none for all of them.
    """
    request: ListConfigResourcesRequest = call.request
    if call.api_version < TYPES_SINCE_VERSION:
        return core.reply(ListConfigResourcesResponse())
    wanted = set(request.resource_types or ResourceType)
    if not wanted <= set(ResourceType):
        return core.reply(ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))
    resources = []
    if ResourceType.BROKER in wanted:
        resources.append(ConfigResource(str(core.settings.node_id), ResourceType.BROKER))
    if ResourceType.TOPIC in wanted:
        resources += [ConfigResource(name, ResourceType.TOPIC) for name in core.state.catalogue.topics]
    return core.reply(ListConfigResourcesResponse(config_resources=resources))


def alter_configs(core: BrokerCore, call: Call) -> Outcome:
    """AlterConfigs (33), versions 0 to 2: all settings of a topic anew; what is not named falls back to the default.

    `validate_only` decides and changes nothing.
    Differences from Kafka: a resource that stands in the request twice is refused, where Kafka 4.3.1 never answers.
    """
    request: AlterConfigsRequest = call.request
    responses = []
    for resource in request.resources:
        values = [(config.name, config.value) for config in resource.configs]
        decided = refuse_resource(resource, request.resources) or decide_replace(
            core.state.catalogue, resource.resource_name, values
        )
        outcome = _alter(core, call, decided)
        responses.append(AlterConfigsResourceResponse(*outcome, resource.resource_type, resource.resource_name))
    return core.reply(AlterConfigsResponse(responses=responses))


def incremental_alter_configs(core: BrokerCore, call: Call) -> Outcome:
    """IncrementalAlterConfigs (44), versions 0 and 1: a topic's settings set, deleted, appended to or subtracted from.

    Each resource is changed as a whole or not at all. `validate_only` decides and changes nothing.
    """
    request: IncrementalAlterConfigsRequest = call.request
    responses = []
    for resource in request.resources:
        changes = [Change(config.name, config.config_operation, config.value) for config in resource.configs]
        decided = refuse_resource(resource, request.resources) or decide_increment(
            core.state.catalogue, resource.resource_name, changes
        )
        outcome = _alter(core, call, decided)
        responses.append(
            incremental.AlterConfigsResourceResponse(*outcome, resource.resource_type, resource.resource_name)
        )
    return core.reply(IncrementalAlterConfigsResponse(responses=responses))


def _alter(core: BrokerCore, call: Call, decided: CatalogueRecord | Refusal) -> tuple[ErrorCode, str | None]:
    """Do what was decided, unless the client only wants to know; error code and message."""
    if isinstance(decided, Refusal):
        return decided.error_code, decided.message
    if not call.request.validate_only:
        core.append_to_catalogue(decided, now_ms=call.now.wall_ms)
    return ErrorCode.NONE, None
