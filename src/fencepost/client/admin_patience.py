"""Administrative calls ask again while the cluster is between two states: electing a leader, loading a coordinator.

Only for refusals that say that nothing was done. A lost connection or a time limit does not say so, and a missing topic
does not come by waiting: those are the caller's.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from fencepost.client.cluster import Cluster
from fencepost.client.exceptions import ClientError
from fencepost.client.time_limits import Backoff, Deadline
from fencepost.errors import ErrorCode

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
