"""IncrementalAlterConfigs (44), versions 0 and 1: a topic's settings set, deleted, appended to or subtracted from.

Each resource is changed as a whole or not at all. `validate_only` decides and changes nothing.
Differences from Kafka: the broker's own settings are given at its start and cannot be altered; nor can those of
internal topics; a topic needs a cleanup policy.
"""

from fencepost.broker.altered_settings import Change, decide_increment, refuse_resource
from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import Refusal
from fencepost.wire.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: IncrementalAlterConfigsRequest = call.request
    return core.reply(
        IncrementalAlterConfigsResponse(responses=[_alter(core, call, resource) for resource in request.resources])
    )


def _alter(core: BrokerCore, call: Call, resource: AlterConfigsResource) -> AlterConfigsResourceResponse:
    changes = [Change(config.name, config.config_operation, config.value) for config in resource.configs]
    record = refuse_resource(resource, call.request.resources) or decide_increment(
        core.state.catalogue, resource.resource_name, changes
    )
    response = AlterConfigsResourceResponse(
        error_message=None, resource_type=resource.resource_type, resource_name=resource.resource_name
    )
    if isinstance(record, Refusal):
        response.error_code, response.error_message = record.error_code, record.message
    elif not call.request.validate_only:
        core.append_to_catalogue(record, now_ms=call.now.wall_ms)
    return response
