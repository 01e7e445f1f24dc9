"""One fetch from one partition, outside of any session: for counting and inspecting, not for consuming."""

from fencepost.client.cluster import Cluster
from fencepost.client.error_table import Category, category_of, error_of
from fencepost.client.exceptions import RetriableError
from fencepost.client.fetch_node import LAST_VERSION_WITH_NAMES
from fencepost.client.time_limits import Deadline
from fencepost.types import TopicPartition
from fencepost.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from fencepost.wire.reading import ZERO_UUID

NO_SESSION_EPOCH = -1
ANSWER_BYTES = 16 * 1024 * 1024


def fetch_partition(
    cluster: Cluster, where: TopicPartition, offset: int, *, read_committed: bool, deadline: Deadline
) -> PartitionData:
    """What is there at this moment from `offset` on. Raises `RetriableError` for what passes."""
    topic = cluster.topic(where.topic, deadline)
    node = cluster.leader(where)
    if node is None:
        raise RetriableError(f"{where} has no leader at the moment")
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=ANSWER_BYTES,
        isolation_level=int(read_committed),
        session_epoch=NO_SESSION_EPOCH,
        topics=[
            FetchTopic(
                where.topic,
                topic.topic_id,
                [FetchPartition(where.partition, fetch_offset=offset, partition_max_bytes=ANSWER_BYTES)],
            )
        ],
    )
    at_most = LAST_VERSION_WITH_NAMES if topic.topic_id == ZERO_UUID else None
    limit_s = max(0.001, deadline.at_most(cluster.settings.request_timeout_ms / 1000))
    response = cluster.call(node, request, FetchResponse, at_most=at_most, timeout_s=limit_s)
    code = response.error_code or response.responses[0].partitions[0].error_code
    if code:
        error = error_of(code, "Fetch", what=f"{where} at offset {offset}")
        if category_of(code, "Fetch") is Category.RETRIABLE:
            raise RetriableError(str(error), error_code=error.error_code)
        raise error
    return response.responses[0].partitions[0]
