"""How long a transaction may be at most, as the cluster says."""

from fencepost.client.cluster import Cluster
from fencepost.client.exceptions import ClientError
from fencepost.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)

BROKER_RESOURCE = 4
SETTING = "transaction.max.timeout.ms"


def transaction_timeout_ms_max(cluster: Cluster) -> int | None:
    """What a broker has for `transaction.max.timeout.ms`; None where nobody tells.

    A guess would be wrong for good: a broker refuses a timeout that is longer than its own limit.
    """
    node = next(iter(cluster.metadata.brokers.values()), None)
    if node is None:
        return None
    asked = DescribeConfigsRequest(resources=[DescribeConfigsResource(BROKER_RESOURCE, str(node.node_id), [SETTING])])
    try:
        results = cluster.call(node, asked, DescribeConfigsResponse).results
    except ClientError:
        return None
    values = [row.value for result in results for row in result.configs if row.name == SETTING and row.value]
    return int(values[0]) if values else None
