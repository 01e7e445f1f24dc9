"""Administrative calls ask again while the cluster is between two states: electing a leader, loading a coordinator.

Only for refusals that say that nothing was done. A lost connection or a time limit does not say so, and a missing topic
does not come by waiting: those are the caller's. Here is also one fetch from one partition outside of any session: for
counting and inspecting, not for consuming.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from fencepost.client.cluster import Cluster
from fencepost.client.consumer.fetch_session import LAST_VERSION_WITH_NAMES, FetchTarget, fetch_topics
from fencepost.client.error_table import error_of
from fencepost.client.exceptions import ClientError, RetriableError
from fencepost.client.net.metadata import Node
from fencepost.client.time_limits import Deadline, retry
from fencepost.client.values import NO_LEADER_EPOCH
from fencepost.errors import ErrorCode
from fencepost.types import NO_TOPIC_ID, TopicPartition
from fencepost.wire.messages.fetch import FetchRequest, FetchResponse, PartitionData

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
ANSWER_BYTES = 16 * 1024 * 1024


class ClusterCalls:
    """Calls on a cluster that belongs to the caller."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster


CallsT = TypeVar("CallsT", bound=ClusterCalls)


def patient(
    call: Callable[Concatenate[CallsT, Arguments], Answer],
) -> Callable[Concatenate[CallsT, Arguments], Answer]:
    @wraps(call)
    def ask_until_settled(self: CallsT, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        settings = self.cluster.settings
        again = partial(call, self, *map(_kept, args), **{name: _kept(value) for name, value in kwargs.items()})

        def passes(problem: ClientError) -> bool:
            if problem.error_code not in PASSING:
                return False
            self.cluster.forget_all()
            return True

        return retry(again, settings, Deadline(settings.request_timeout_ms / 1000), None, is_retriable=passes)

    return ask_until_settled


def _kept(argument: Any) -> Any:
    """An iterator can be gone through once only, and a call that is made again has to find everything again."""
    return list(argument) if isinstance(argument, Iterator) else argument


def leaders_of(
    cluster: Cluster, partitions: Iterable[TopicPartition], api_name: str
) -> dict[Node, list[TopicPartition]]:
    """Who is to be asked about which of these partitions; LEADER_NOT_AVAILABLE if one has no leader."""
    asked: dict[Node, list[TopicPartition]] = {}
    wanted = list(partitions)
    if cluster.needs_refresh or any(cluster.leader(topic_partition) is None for topic_partition in wanted):
        cluster.refresh({topic_partition.topic for topic_partition in wanted})
    for topic_partition in wanted:
        leader = cluster.leader(topic_partition)
        if leader is None:
            raise error_of(ErrorCode.LEADER_NOT_AVAILABLE, api_name, what=str(topic_partition))
        asked.setdefault(leader, []).append(topic_partition)
    return asked


def check_code(error_code: int, api_name: str, what: str, explanation: str | None = None) -> None:
    if error_code:
        raise error_of(error_code, api_name, what=what, explanation=explanation)


def fetch_partition(
    cluster: Cluster, topic_partition: TopicPartition, offset: int, *, read_committed: bool, deadline: Deadline
) -> PartitionData:
    """What is there at this moment from `offset` on. Raises `RetriableError` for what passes."""
    topic = cluster.topic(topic_partition.topic, deadline)
    node = cluster.leader(topic_partition)
    if node is None:
        raise RetriableError(f"{topic_partition} has no leader at the moment")
    target = FetchTarget(topic.topic_id, offset, NO_LEADER_EPOCH, ANSWER_BYTES)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=ANSWER_BYTES,
        isolation_level=int(read_committed),
        topics=fetch_topics({topic_partition: target}),
    )
    at_most = LAST_VERSION_WITH_NAMES if topic.topic_id == NO_TOPIC_ID else None
    limit_s = deadline.for_request(cluster.settings)
    response = cluster.call(node, request, FetchResponse, at_most=at_most, timeout_s=limit_s)
    check_code(response.error_code, "Fetch", str(topic_partition))
    answer = response.responses[0].partitions[0]
    check_code(answer.error_code, "Fetch", f"{topic_partition} at offset {offset}")
    return answer
