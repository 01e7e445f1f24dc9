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
KAFKA_DEFAULT_MS = 900_000


def transaction_timeout_ms_max(cluster: Cluster) -> int:
    """What a broker has for `transaction.max.timeout.ms`; Kafka's default where nobody tells."""
    node = next(iter(cluster.metadata.brokers.values()), None)
    if node is None:
        return KAFKA_DEFAULT_MS
    asked = DescribeConfigsRequest(resources=[DescribeConfigsResource(BROKER_RESOURCE, str(node.node_id), [SETTING])])
    try:
        results = cluster.call(node, asked, DescribeConfigsResponse).results
    except ClientError:
        return KAFKA_DEFAULT_MS
    values = [row.value for result in results for row in result.configs if row.name == SETTING and row.value]
    return int(values[0]) if values else KAFKA_DEFAULT_MS
