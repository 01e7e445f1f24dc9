"""Asking one broker for records: in an incremental fetch session (KIP-227), or without one.

In a session the client says once what is wanted, then only what changed. Its first request is full (epoch 0); the
broker answers with a session id, or with 0 if it keeps no session for us, and then every request stays full. Afterwards
partitions that moved on are sent, those no longer wanted are forgotten, the rest goes without saying. A request that
got no answer leaves the two sides apart: `reset` starts again with a full one.
"""

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from fencepost.client.cluster import Cluster
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.error_table import error_of
from fencepost.client.net.connection import Connection, InFlight
from fencepost.client.net.metadata import Node
from fencepost.client.time_limits import Deadline
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition
from fencepost.wire.api import FETCH
from fencepost.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, ForgottenTopic
from fencepost.wire.reading import ZERO_UUID

NO_SESSION = 0
FULL = 0
EPOCH_MAX = 2**31 - 1
LAST_VERSION_WITH_NAMES = 12
SESSION_ERRORS = frozenset(
    {
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
    }
)


class FetchTarget(NamedTuple):
    topic_id: UUID
    fetch_offset: int
    leader_epoch: int
    max_bytes: int


Targets = dict[TopicPartition, FetchTarget]


class FetchSession:
    def __init__(self) -> None:
        self.session_id = NO_SESSION
        self.epoch = FULL
        self.targets: Targets = {}
        """What the broker was asked for last, by the request that is in flight included."""

    def reset(self) -> None:
        self.session_id, self.epoch, self.targets = NO_SESSION, FULL, {}

    def prepare(self, wanted: Mapping[TopicPartition, FetchTarget], request: FetchRequest) -> FetchRequest:
        """Fill in what `request` has to say for the broker to end up with `wanted`."""
        if self.epoch == FULL or self._has_ids != has_topic_ids(wanted):
            self.reset()
        changed = {
            topic_partition: target
            for topic_partition, target in wanted.items()
            if self.targets.get(topic_partition) != target
        }
        forgotten = {
            topic_partition: target
            for topic_partition, target in self.targets.items()
            if topic_partition not in wanted or wanted[topic_partition].topic_id != target.topic_id
        }
        self.targets = dict(wanted)
        request.session_id = self.session_id
        request.session_epoch = self.epoch
        request.topics = fetch_topics(changed)
        request.forgotten_topics_data = [
            ForgottenTopic(topic.topic, topic.topic_id, [partition.partition for partition in topic.partitions])
            for topic in fetch_topics(forgotten)
        ]
        return request

    def answered(self, session_id: int) -> None:
        """The broker took the request, and keeps this session."""
        if session_id == NO_SESSION:
            self.session_id, self.epoch = NO_SESSION, FULL
        elif self.epoch == FULL or self.epoch == EPOCH_MAX:
            self.session_id, self.epoch = session_id, 1
        else:
            self.epoch += 1

    @property
    def _has_ids(self) -> bool:
        return has_topic_ids(self.targets)


def has_topic_ids(targets: Mapping[TopicPartition, FetchTarget]) -> bool:
    """Whether every topic has an id, so that versions from 13 on can be used."""
    return all(target.topic_id != ZERO_UUID for target in targets.values())


def is_same_topic(one: UUID, other: UUID) -> bool:
    """Whether both ids can be of one topic: where brokers of several releases meet, some answers have no id."""
    return one == other or ZERO_UUID in (one, other)


def fetch_topics(targets: Mapping[TopicPartition, FetchTarget]) -> list[FetchTopic]:
    topics: dict[tuple[str, UUID], FetchTopic] = {}
    for (name, partition), target in targets.items():
        topic = topics.setdefault((name, target.topic_id), FetchTopic(name, target.topic_id))
        topic.partitions.append(
            FetchPartition(
                partition=partition,
                current_leader_epoch=target.leader_epoch,
                fetch_offset=target.fetch_offset,
                partition_max_bytes=target.max_bytes,
            )
        )
    return list(topics.values())


def send_fetch(
    connection: Connection, settings: ConsumerSettings, targets: Targets, session: FetchSession | None = None
) -> InFlight:
    """Ask for these partitions. Without a session the broker remembers nothing of it, and the last bytes of what is
    read do not wait for more."""
    request = FetchRequest(
        max_wait_ms=settings.fetch_max_wait_ms,
        min_bytes=1 if session is None else settings.fetch_min_bytes,
        max_bytes=settings.fetch_max_bytes,
        isolation_level=int(settings.is_read_committed),
    )
    if session is None:
        request.topics = fetch_topics(targets)
    else:
        session.prepare(targets, request)
    version = connection.versions.choose(FETCH, at_most=None if has_topic_ids(targets) else LAST_VERSION_WITH_NAMES)
    limit_s = (settings.request_timeout_ms + settings.fetch_max_wait_ms) / 1000
    return connection.send(request, version=version, timeout_s=limit_s)


class NodeFetcher:
    """A connection to one broker, a session on it, one request in flight."""

    def __init__(self, cluster: Cluster, node: Node, settings: ConsumerSettings) -> None:
        self._settings = settings
        self._node = node
        self._session = FetchSession()
        self.connection = cluster.connect(node)
        self._deadline = Deadline(None)
        self.is_waiting = False
        """Whether an answer is on its way."""

    @property
    def targets(self) -> Targets:
        """What was asked for last."""
        return self._session.targets

    @property
    def is_lost(self) -> bool:
        return self.connection.is_closed or (self.is_waiting and self._deadline.has_passed)

    def send(self, targets: Targets) -> None:
        self._deadline = send_fetch(self.connection, self._settings, targets, self._session).deadline
        self.is_waiting = True

    def receive(self) -> FetchResponse | None:
        """The answer if it has arrived whole. None also for one that only says that the session is gone."""
        for _, response in self.connection.receive_available():
            self.is_waiting = False
            assert isinstance(response, FetchResponse)
            if response.error_code in SESSION_ERRORS:
                self._session.reset()
                return None
            if response.error_code:
                raise error_of(response.error_code, "Fetch", what=str(self._node))
            self._session.answered(response.session_id)
            return response
        return None
