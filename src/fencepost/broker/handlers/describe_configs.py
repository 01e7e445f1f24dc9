"""DescribeConfigs (32), versions 1 to 4: settings of topics and of this broker, with their sources and synonyms.

v3 types and documentation.
Differences from Kafka: settings of the broker are read-only, for none can be changed while it runs, and there are no
defaults for all brokers (the broker with an empty name has no settings). Loggers, client metrics and groups have no
settings of their own. `retention.ms` names the broker's `log.retention.ms` as its synonym; Kafka names none.
"""

from fencepost.broker.altered_settings import ResourceType
from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import check_name
from fencepost.broker.core import BrokerCore
from fencepost.broker.described_settings import DescribedSetting, describe_broker_settings, describe_topic_settings
from fencepost.errors import ErrorCode, Refusal
from fencepost.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
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
