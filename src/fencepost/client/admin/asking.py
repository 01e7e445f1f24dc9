"""Administrative calls ask again while the cluster is between two states: electing a leader, loading a coordinator.

Only for refusals that say that nothing was done. A lost connection or a time limit does not say so, and a missing topic
does not come by waiting: those are the caller's.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from fencepost.client.cluster import Cluster
from fencepost.client.consumer.fetch_session import LAST_VERSION_WITH_NAMES
from fencepost.client.error_table import Category, category_of, error_of
from fencepost.client.exceptions import ClientError, RetriableError
from fencepost.client.time_limits import Backoff, Deadline
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition
from fencepost.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from fencepost.wire.reading import ZERO_UUID

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

PASSING = frozenset(
    {
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.LISTENER_NOT_FOUND,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_CONTROLLER,
    }
)


def patient(
    call: Callable[Concatenate[Cluster, Arguments], Answer],
) -> Callable[Concatenate[Cluster, Arguments], Answer]:
    @wraps(call)
    def ask_until_settled(cluster: Cluster, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        deadline, backoff = Deadline(cluster.settings.request_timeout_ms / 1000), Backoff(cluster.settings)
        again = partial(call, cluster, *map(_kept, args), **{name: _kept(value) for name, value in kwargs.items()})
        while True:
            try:
                return again()
            except ClientError as problem:
                if problem.error_code not in PASSING or deadline.has_passed:
                    raise
            cluster.forget_all()
            time.sleep(deadline.at_most(backoff.next_pause_s()))

    return ask_until_settled


def _kept(argument: Any) -> Any:
    """An iterator can be gone through once only, and a call that is made again has to find everything again."""
    return list(argument) if isinstance(argument, Iterator) else argument


# One fetch from one partition, outside of any session: for counting and inspecting, not for consuming.


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
