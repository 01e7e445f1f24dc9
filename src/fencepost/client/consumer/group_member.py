"""A consumer as member of its group: a thread that keeps it there, and the hand-over to the consumer's own thread.

The thread joins, beats and leaves; it never touches what is read. When partitions are to change hands it offers a
`Change`. The consumer's thread takes it in `poll`, calls back, becomes the owner of exactly the target, and says
`settled`. Meanwhile the thread goes on beating, so that a slow callback does not cost the membership; a program that
does not poll for `max.poll.interval.ms` does. How to join is the protocol's: `group_classic.py`, `group_consumer.py`.
"""

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import NamedTuple

from fencepost.client.cluster import Cluster, CoordinatorType, ResponseT
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.error_table import FIND_COORDINATOR_AGAIN
from fencepost.client.exceptions import ClientError, CommitFailed, IllegalState, RetriableError
from fencepost.client.time_limits import Backoff, Deadline
from fencepost.client.values import NO_GENERATION, NO_MEMBER_ID, ConsumerGroupMetadata
from fencepost.types import TopicPartition
from fencepost.wire.message import Message

logger = logging.getLogger("fencepost.client")

Partitions = frozenset[TopicPartition]
NOTHING: Partitions = frozenset()


class Change(NamedTuple):
    """Own exactly `target`. What is given up was lost, if another member may have it already."""

    target: Partitions
    is_lost: bool = False


class GroupMember(ABC):
    def __init__(
        self, cluster: Cluster, settings: ConsumerSettings, topics: Iterable[str], *, wake: Callable[[], None]
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._wake = wake
        self._news = threading.Condition()
        self._topics = sorted(set(topics))
        self._owned = NOTHING
        self._change: Change | None = None
        self._problem: BaseException | None = None
        self._polled_at_s = time.monotonic()
        self._beat_at_s = 0.0
        self._is_closing = False
        self._is_joining = False
        self._member_id = NO_MEMBER_ID
        self._generation_id = NO_GENERATION
        self._thread = threading.Thread(target=self._run, name=f"fencepost-group-{settings.group_id}", daemon=True)

    # The consumer's side

    def start(self) -> None:
        self._thread.start()

    def poll(self) -> Change | None:
        """Say that the program is alive; what it is to do, if anything. Raises what ended the membership."""
        with self._news:
            if self._problem is not None:
                if isinstance(self._problem, ClientError):
                    raise self._problem
                raise IllegalState(f"the thread of group '{self._settings.group_id}' ended") from self._problem
            self._polled_at_s = time.monotonic()
            return self._change

    def settled(self, change: Change, owned: Partitions) -> None:
        """The consumer owns this now. A newer offer than the one it followed stays."""
        with self._news:
            self._owned = owned
            if self._change is change:
                self._change = None
            self._news.notify_all()

    def subscribe(self, topics: Iterable[str]) -> None:
        """Other topics from here on."""
        with self._news:
            self._topics = sorted(set(topics))
            self._news.notify_all()

    def identity(self) -> ConsumerGroupMetadata:
        """Who commits. Raises `CommitFailed` for one that is not in the group."""
        with self._news:
            if self._generation_id < 0:
                raise CommitFailed(
                    f"group '{self._settings.group_id}': this consumer is not a member, or no longer: poll again"
                )
            return ConsumerGroupMetadata(
                self._settings.group_id, self._generation_id, self._member_id, self._instance_id
            )

    def has_moved_on(self, generation_id: int) -> bool:
        """Whether this member has joined a later generation than this one, or is about to."""
        with self._news:
            return self._is_joining or self._generation_id not in (generation_id, NO_GENERATION)

    def leave(self, deadline: Deadline) -> None:
        """Stop, and tell the coordinator, or the group would wait for the session to end. The thread may still run."""
        with self._news:
            self._is_closing = True
            self._news.notify_all()
        try:
            self._say_goodbye(deadline)
        except ClientError as problem:
            logger.info("group '%s': leaving was not answered: %s", self._settings.group_id, problem)
        with self._news:
            self._generation_id = NO_GENERATION

    def wait_until_ended(self, timeout_s: float) -> None:
        if self._thread.ident is not None:
            self._thread.join(timeout_s)

    # The thread's side

    @abstractmethod
    def _step(self) -> None:
        """Do what is due, or wait until something is."""

    @abstractmethod
    def _say_goodbye(self, deadline: Deadline) -> None: ...

    @property
    def _instance_id(self) -> str | None:
        return self._settings.group_instance_id or None

    @property
    def _is_silent(self) -> bool:
        return time.monotonic() - self._polled_at_s > self._settings.max_poll_interval_ms / 1000

    def _run(self) -> None:
        backoff = Backoff(self._settings)
        try:
            while not self._is_closing:
                try:
                    self._step()
                    backoff.reset()
                except RetriableError as problem:
                    self._note(problem)
                    self._wait(backoff.next_pause_s(), lambda: self._is_closing)
        except BaseException as problem:  # noqa: BLE001 - the next poll raises it
            if not self._is_closing:
                self._problem = problem
                self._wake()

    def _wait(self, seconds: float, until: Callable[[], bool]) -> None:
        with self._news:
            self._news.wait_for(until, max(0.0, seconds))

    def _offer(self, change: Change) -> None:
        with self._news:
            self._change = change
        self._wake()

    @property
    def _deadline(self) -> Deadline:
        return Deadline(self._settings.request_timeout_ms / 1000)

    def _call(
        self,
        request: Message,
        response_class: type[ResponseT],
        deadline: Deadline | None = None,
        *,
        timeout_s: float | None = None,
    ) -> ResponseT:
        """One request to the coordinator, which may take its `timeout_s` beyond `request.timeout.ms`."""
        limit = Deadline(timeout_s) if timeout_s is not None else deadline or self._deadline
        group_id = self._settings.group_id
        return self._cluster.call_coordinator(
            CoordinatorType.GROUP, group_id, request, response_class, deadline=limit, timeout_s=timeout_s
        )

    def _note(self, problem: RetriableError) -> None:
        """What is to be known before the next try."""
        logger.debug("group '%s': %s", self._settings.group_id, problem)
        if problem.error_code in FIND_COORDINATOR_AGAIN:
            self._cluster.forget_coordinator(CoordinatorType.GROUP, self._settings.group_id)
