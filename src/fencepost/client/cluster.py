"""The cluster as one thing to talk to: where it starts, who leads what, who coordinates whom, which features it has.

Calls go out once and say what came of it; whether to try again is the caller's decision, with `mark_stale` and
`forget_coordinator` to make the next try look afresh. Only `topic` and `coordinator` wait and retry, because without
their answer nothing can be tried at all. Thread-safe.
"""

import random
import threading
import time
from collections.abc import Iterable
from enum import IntEnum
from typing import TypeVar

from fencepost.client.error_table import error_of
from fencepost.client.exceptions import Disconnected, RetriableError
from fencepost.client.net.connection import TRANSACTION_VERSION, ApiVersions, Connection, api_key_of
from fencepost.client.net.metadata import ClusterMetadata, Node, TopicMetadata
from fencepost.client.net.pool import ConnectionPool
from fencepost.client.settings import ClientSettings, parse_bootstrap_servers
from fencepost.client.time_limits import Deadline, retry
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition
from fencepost.wire.message import Message
from fencepost.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from fencepost.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

ResponseT = TypeVar("ResponseT", bound=Message)

BATCHED_FIND_COORDINATOR = 4
"""From this version on FindCoordinator takes several keys."""


class CoordinatorType(IntEnum):
    GROUP = 0
    TRANSACTION = 1


class Cluster:
    def __init__(
        self,
        bootstrap_servers: str | Iterable[str],
        settings: ClientSettings,
        *,
        allow_auto_topic_creation: bool = True,
    ) -> None:
        self.settings = settings
        self._bootstrap = [
            Node(-1 - index, host, port)
            for index, (host, port) in enumerate(parse_bootstrap_servers(bootstrap_servers))
        ]
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self._pool = ConnectionPool(settings, on_versions=self._learn_versions)
        self._lock = threading.Lock()
        self._refresh_lock = threading.Lock()
        self._metadata = ClusterMetadata()
        self._interest: dict[str, None] = {}
        self._refreshed_at: float | None = None
        self._is_stale = True
        self._coordinators: dict[tuple[CoordinatorType, str], Node] = {}
        self._features: dict[str, int] = {}
        self._features_epoch = -1
        self._versions: ApiVersions | None = None

    # Metadata

    @property
    def metadata(self) -> ClusterMetadata:
        """What is known at this moment, without a request."""
        return self._metadata

    def leader(self, topic_partition: TopicPartition) -> Node | None:
        return self._metadata.leader(topic_partition)

    def topic(self, name: str, deadline: Deadline) -> TopicMetadata:
        """The topic with its partitions, asked for again and again until it is there or the time is up."""
        known = self._metadata.topics.get(name)
        if known is not None and known.partitions and not known.error_code and not self.needs_refresh:
            return known

        def ask() -> TopicMetadata:
            found = self.refresh([name], timeout_s=deadline.for_request(self.settings)).topics.get(name)
            if found is not None and found.partitions and not found.error_code:
                return found
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if found is None else found.error_code
            raise error_of(code, "Metadata", what=f"topic '{name}'")

        return retry(ask, self.settings, deadline, f"metadata of topic '{name}'")

    def mark_stale(self) -> None:
        """The next look asks the cluster again."""
        self._is_stale = True

    @property
    def needs_refresh(self) -> bool:
        refreshed_at = self._refreshed_at
        if self._is_stale or refreshed_at is None:
            return True
        return time.monotonic() - refreshed_at > self.settings.metadata_max_age_ms / 1000

    def refresh(
        self, topics: Iterable[str] | None = (), *, is_all: bool = False, timeout_s: float | None = None
    ) -> ClusterMetadata:
        """Ask once, for `topics` and, unless that is all, those that were asked for before; None asks for every topic
        that there is. To ask for a topic may create it, so one that is no longer wanted must not be asked for."""
        with self._refresh_lock:
            if topics is not None:
                with self._lock:
                    if is_all:
                        self._interest.clear()
                    self._interest.update(dict.fromkeys(topics))
                    asked: list[str] | None = list(self._interest)
            else:
                asked = None
            may_create = self.allow_auto_topic_creation and asked is not None
            response = self.ask_metadata(asked, allow_auto_topic_creation=may_create, timeout_s=timeout_s)
            with self._lock:
                self._metadata = self._metadata.updated(response, asked=asked)
                self._refreshed_at = time.monotonic()
                self._is_stale = False
            return self._metadata

    def ask_metadata(
        self,
        topics: Iterable[str] | None,
        *,
        allow_auto_topic_creation: bool = False,
        timeout_s: float | None = None,
    ) -> MetadataResponse:
        """What a broker says of these topics, or of all, at this moment; nothing of it is remembered."""
        request = MetadataRequest(
            topics=None if topics is None else [MetadataRequestTopic(name=name) for name in topics],
            allow_auto_topic_creation=allow_auto_topic_creation,
        )
        response = self.call_any(request, MetadataResponse, timeout_s=timeout_s)
        if response.error_code:
            raise error_of(response.error_code, "Metadata")
        return response

    # Calls

    def call(
        self,
        node: Node,
        request: Message,
        response_class: type[ResponseT],
        *,
        at_most: int | None = None,
        at_least: int = 0,
        timeout_s: float | None = None,
    ) -> ResponseT:
        """One request to one broker, in the highest version that both speak, or at most / at least the given ones."""
        try:
            with self._pool.lend(node, timeout_s=timeout_s) as connection:
                version = connection.versions.choose(api_key_of(request), at_most=at_most, at_least=at_least)
                return connection.request(request, response_class, version=version, timeout_s=timeout_s)
        except RetriableError:
            self.mark_stale()
            raise

    def call_any(
        self, request: Message, response_class: type[ResponseT], *, timeout_s: float | None = None
    ) -> ResponseT:
        """One request to whichever broker answers: those that are known first, then those we started from."""
        brokers = list(self._metadata.brokers.values())
        random.shuffle(brokers)
        bootstrap = list(self._bootstrap)
        random.shuffle(bootstrap)
        problems = []
        for node in [*brokers, *bootstrap]:
            try:
                with self._pool.lend(node, timeout_s=timeout_s) as connection:
                    return connection.request(request, response_class, timeout_s=timeout_s)
            except RetriableError as problem:
                problems.append(str(problem))
        # A broker that we started from is mostly also one that is known.
        raise Disconnected(f"no broker can be reached: {'; '.join(dict.fromkeys(problems))}")

    def call_controller(
        self, request: Message, response_class: type[ResponseT], *, timeout_s: float | None = None
    ) -> ResponseT:
        """One request to the controller, or to any broker where the controller is not shown to clients."""
        if self.needs_refresh:
            self.refresh(timeout_s=timeout_s)
        node = self._metadata.brokers.get(self._metadata.controller_id)
        if node is None:
            return self.call_any(request, response_class, timeout_s=timeout_s)
        return self.call(node, request, response_class, timeout_s=timeout_s)

    def connect(self, node: Node) -> Connection:
        """A connection of the caller's own, for pipelining."""
        return self._pool.connect(node)

    # Coordinators

    def coordinator(self, kind: CoordinatorType, key: str, deadline: Deadline) -> Node:
        """Who coordinates this group or transactional id; waits while the cluster is electing one."""
        known = self._coordinators.get((kind, key))
        if known is not None:
            return known
        what = f"the coordinator of {kind.name.lower()} '{key}'"
        return retry(lambda: self._find_coordinator(kind, key, deadline), self.settings, deadline, what)

    def forget_coordinator(self, kind: CoordinatorType, key: str) -> None:
        with self._lock:
            self._coordinators.pop((kind, key), None)

    def forget_all(self) -> None:
        """Whatever is asked next looks for its leader, controller or coordinator afresh."""
        with self._lock:
            self._coordinators.clear()
        self.mark_stale()

    def call_coordinator(
        self,
        kind: CoordinatorType,
        key: str,
        request: Message,
        response_class: type[ResponseT],
        *,
        deadline: Deadline,
        at_most: int | None = None,
        at_least: int = 0,
        timeout_s: float | None = None,
    ) -> ResponseT:
        """One request to a coordinator. If it cannot be reached, the next call looks for it again."""
        node = self.coordinator(kind, key, deadline)
        limit_s = deadline.for_request(self.settings) if timeout_s is None else deadline.at_most(timeout_s)
        try:
            return self.call(node, request, response_class, at_most=at_most, at_least=at_least, timeout_s=limit_s)
        except RetriableError:
            self.forget_coordinator(kind, key)
            raise

    # Features

    def feature_level(self, name: str) -> int:
        """The level that the cluster has finalized; 0 if it has none, or no broker was met yet."""
        return self._features.get(name, 0)

    def serves(self, api_key: int, version: int = 0) -> bool:
        """Whether the broker that was met last speaks this API in this version or a later one."""
        if self._versions is None:
            self.refresh()
        return self._versions is not None and self._versions.has(api_key, version)

    @property
    def transaction_version(self) -> int:
        return self.feature_level(TRANSACTION_VERSION)

    def close(self) -> None:
        self._pool.close()

    def _find_coordinator(self, kind: CoordinatorType, key: str, deadline: Deadline) -> Node:
        request = FindCoordinatorRequest(key=key, key_type=kind, coordinator_keys=[key])
        response = self.call_any(request, FindCoordinatorResponse, timeout_s=deadline.for_request(self.settings))
        found = response.coordinators[0] if response.coordinators else response
        if found.error_code:
            what = f"{kind.name.lower()} '{key}'"
            raise error_of(found.error_code, "FindCoordinator", what=what, explanation=found.error_message)
        node = Node(found.node_id, found.host, found.port)
        with self._lock:
            self._coordinators[kind, key] = node
        return node

    def _learn_versions(self, versions: ApiVersions) -> None:
        with self._lock:
            self._versions = versions
            if versions.features_epoch >= self._features_epoch:
                self._features_epoch = versions.features_epoch
                self._features = versions.features
