"""DescribeConfigs (32), versions 1 to 4: settings of topics and of this broker, with their sources and synonyms.

v3 types and documentation.
Differences from Kafka: settings of the broker are read-only, for none can be changed while it runs, and there are no
defaults for all brokers (the broker with an empty name has no settings). Loggers, client metrics and groups have no
settings of their own. `retention.ms` names the broker's `log.retention.ms` as its synonym; Kafka names none.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import check_name
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
    AlterConfigsResource,
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


def describe_configs(core: BrokerCore, call: Call) -> Outcome:
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


# ListConfigResources (74), versions 0 and 1: which resources have settings to describe.
#
# v0 lists client metrics subscriptions, of which there are none; v1 names the types, none for all of them.
# Differences from Kafka: there are no broker loggers and no groups with settings of their own.


TYPES_SINCE_VERSION = 1


def list_config_resources(core: BrokerCore, call: Call) -> Outcome:
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


# AlterConfigs (33), versions 0 to 2: all settings of a topic anew; what is not named falls back to the default.
#
# `validate_only` decides and changes nothing.
# Differences from Kafka: as in `incremental_alter_configs.py`; and a resource that stands in the request twice is
# refused, where Kafka 4.3.1 never answers.


def alter_configs(core: BrokerCore, call: Call) -> Outcome:
    request: AlterConfigsRequest = call.request
    return core.reply(AlterConfigsResponse(responses=[_alter(core, call, resource) for resource in request.resources]))


def _alter(core: BrokerCore, call: Call, resource: AlterConfigsResource) -> AlterConfigsResourceResponse:
    values = [(config.name, config.value) for config in resource.configs]
    record = refuse_resource(resource, call.request.resources) or decide_replace(
        core.state.catalogue, resource.resource_name, values
    )
    response = AlterConfigsResourceResponse(
        error_message=None, resource_type=resource.resource_type, resource_name=resource.resource_name
    )
    if isinstance(record, Refusal):
        response.error_code, response.error_message = record.error_code, record.message
    elif not call.request.validate_only:
        core.append_to_catalogue(record, now_ms=call.now.wall_ms)
    return response


# IncrementalAlterConfigs (44), versions 0 and 1: a topic's settings set, deleted, appended to or subtracted from.
#
# Each resource is changed as a whole or not at all. `validate_only` decides and changes nothing.
# Differences from Kafka: the broker's own settings are given at its start and cannot be altered; nor can those of
# internal topics; a topic needs a cleanup policy.


def incremental_alter_configs(core: BrokerCore, call: Call) -> Outcome:
    request: IncrementalAlterConfigsRequest = call.request
    return core.reply(
        IncrementalAlterConfigsResponse(
            responses=[_alter_incrementally(core, call, resource) for resource in request.resources]
        )
    )


def _alter_incrementally(
    core: BrokerCore, call: Call, resource: incremental.AlterConfigsResource
) -> incremental.AlterConfigsResourceResponse:
    changes = [Change(config.name, config.config_operation, config.value) for config in resource.configs]
    record = refuse_resource(resource, call.request.resources) or decide_increment(
        core.state.catalogue, resource.resource_name, changes
    )
    response = incremental.AlterConfigsResourceResponse(
        error_message=None, resource_type=resource.resource_type, resource_name=resource.resource_name
    )
    if isinstance(record, Refusal):
        response.error_code, response.error_message = record.error_code, record.message
    elif not call.request.validate_only:
        core.append_to_catalogue(record, now_ms=call.now.wall_ms)
    return response
