"""Fetching from one broker: a connection of its own, a session on it, one request in flight."""

from fencepost.client.cluster import Cluster
from fencepost.client.connection import Connection
from fencepost.client.consumer_settings import ConsumerSettings
from fencepost.client.error_table import error_of
from fencepost.client.exceptions import Disconnected
from fencepost.client.fetch_session import FetchSession, Targets, has_topic_ids
from fencepost.client.metadata import Node
from fencepost.client.time_limits import Deadline
from fencepost.errors import ErrorCode
from fencepost.wire.api import FETCH
from fencepost.wire.messages.fetch import FetchRequest, FetchResponse

LAST_VERSION_WITH_NAMES = 12
SESSION_ERRORS = frozenset(
    {
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
    }
)


class NodeFetcher:
    def __init__(self, cluster: Cluster, node: Node, settings: ConsumerSettings) -> None:
        self._settings = settings
        self._session = FetchSession()
        self._connection: Connection = cluster.connect(node)
        self.node = node
        self._deadline = Deadline(None)
        self.is_waiting = False
        """Whether an answer is on its way."""

    @property
    def targets(self) -> Targets:
        """What was asked for last."""
        return self._session.targets

    @property
    def is_closed(self) -> bool:
        return self._connection.is_closed

    @property
    def is_overdue(self) -> bool:
        return self.is_waiting and self._deadline.has_passed

    def fileno(self) -> int:
        return self._connection.fileno()

    def send(self, targets: Targets) -> None:
        settings = self._settings
        request = FetchRequest(
            max_wait_ms=settings.fetch_max_wait_ms,
            min_bytes=settings.fetch_min_bytes,
            max_bytes=settings.fetch_max_bytes,
            isolation_level=int(settings.is_read_committed),
        )
        at_most = None if has_topic_ids(targets) else LAST_VERSION_WITH_NAMES
        version = self._connection.versions.choose(FETCH, at_most=at_most)
        limit_s = (settings.request_timeout_ms + settings.fetch_max_wait_ms) / 1000
        sent = self._connection.send(self._session.prepare(targets, request), version=version, timeout_s=limit_s)
        self._deadline = sent.deadline
        self.is_waiting = True

    def receive(self) -> FetchResponse | None:
        """The answer if it has arrived whole. None also for one that only says that the session is gone."""
        for _, response in self._connection.receive_available():
            self.is_waiting = False
            if not isinstance(response, FetchResponse):
                raise Disconnected(f"{self.node} answered a fetch with {type(response).__name__}")
            if response.error_code in SESSION_ERRORS:
                self._session.reset()
                return None
            if response.error_code:
                raise error_of(response.error_code, "Fetch", what=str(self.node))
            self._session.answered(response.session_id)
            return response
        return None

    def close(self) -> None:
        self._connection.close()
