"""ListConfigResources (74), versions 0 and 1: which resources have settings to describe.

v0 lists client metrics subscriptions, of which there are none; v1 names the types, none for all of them.
Differences from Kafka: there are no broker loggers and no groups with settings of their own.
"""

from fencepost.broker.altered_settings import ResourceType
from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

TYPES_SINCE_VERSION = 1


def handle(core: BrokerCore, call: Call) -> Outcome:
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
