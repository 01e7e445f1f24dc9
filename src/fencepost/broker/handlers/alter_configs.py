"""AlterConfigs (33), versions 0 to 2: all settings of a topic anew; what is not named falls back to the default.

`validate_only` decides and changes nothing.
Differences from Kafka: as in `incremental_alter_configs.py`; and a resource that stands in the request twice is
refused, where Kafka 4.3.1 never answers.
"""

from fencepost.broker.altered_settings import decide_replace, refuse_resource
from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import Refusal
from fencepost.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
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
