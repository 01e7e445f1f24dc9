"""DescribeCluster (60), versions 0 to 2: the one broker, which is its own controller.

v1 endpoint types: this is an endpoint for brokers; one for controllers (KIP-919) does not exist.
"""

from fencepost.broker.authorized_operations import CLUSTER_OPERATIONS, NOT_ASKED
from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

BROKERS = 1
CONTROLLERS = 2


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: DescribeClusterRequest = call.request
    if request.endpoint_type == CONTROLLERS:
        message = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
        return core.reply(DescribeClusterResponse(error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE, error_message=message))
    if request.endpoint_type != BROKERS:
        message = f"Unsupported endpoint type {request.endpoint_type}"
        return core.reply(
            DescribeClusterResponse(error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, error_message=message)
        )
    host, port = core.listener
    node_id = core.settings.node_id
    return core.reply(
        DescribeClusterResponse(
            cluster_id=core.state.catalogue.cluster_id,
            controller_id=node_id,
            brokers=[DescribeClusterBroker(node_id, host, port)],
            cluster_authorized_operations=CLUSTER_OPERATIONS
            if request.include_cluster_authorized_operations
            else NOT_ASKED,
        )
    )
