"""Connections to the brokers of a cluster, lent one at a time.

Who calls gets a connection for the time of the call, so that a long poll never holds up a heartbeat. One that the
broker has closed in the meantime, or that lay unused for `connections.max.idle.ms`, is replaced unnoticed. `connect`
makes one that belongs to the caller, for pipelining.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from fencepost.client.exceptions import IllegalState
from fencepost.client.net.connection import ApiVersions, Connection
from fencepost.client.net.metadata import Node
from fencepost.client.net.security import ssl_context
from fencepost.client.settings import ClientSettings

Address = tuple[str, int]
OnVersions = Callable[[ApiVersions], None]


class ConnectionPool:
    def __init__(self, settings: ClientSettings, *, on_versions: OnVersions) -> None:
        self._settings = settings
        self._context = ssl_context(settings)
        self._on_versions = on_versions
        self._lock = threading.Lock()
        self._idle: dict[Address, list[tuple[Connection, float]]] = {}
        self._lent: set[Connection] = set()
        self._is_closed = False

    def connect(self, node: Node, *, timeout_s: float | None = None) -> Connection:
        """A new connection, the caller's to close; closing the pool closes it too."""
        limit_s = self._settings.request_timeout_ms / 1000 if timeout_s is None else timeout_s
        connection = Connection.open(node.host, node.port, self._settings, context=self._context, timeout_s=limit_s)
        self._on_versions(connection.versions)
        with self._lock:
            if self._is_closed:
                connection.close()
                raise IllegalState("the client is closed")
            self._lent = {lent for lent in self._lent if not lent.is_closed}
            self._lent.add(connection)
        return connection

    @contextlib.contextmanager
    def lend(self, node: Node, *, timeout_s: float | None = None) -> Iterator[Connection]:
        """A connection with nothing in flight, for the time of the block."""
        address = (node.host, node.port)
        connection = self._take_idle(address) or self.connect(node, timeout_s=timeout_s)
        try:
            yield connection
        finally:
            self._give_back(address, connection)

    def close(self) -> None:
        """Close everything. A call that is under way on another thread ends with `Disconnected`."""
        with self._lock:
            self._is_closed = True
            connections = [connection for idle in self._idle.values() for connection, _ in idle]
            connections += self._lent
            self._idle.clear()
            self._lent.clear()
        for connection in connections:
            connection.close()

    def _take_idle(self, address: Address) -> Connection | None:
        oldest = time.monotonic() - self._settings.connections_max_idle_ms / 1000
        while True:
            with self._lock:
                if self._is_closed:
                    raise IllegalState("the client is closed")
                idle = self._idle.get(address)
                if not idle:
                    return None
                connection, since = idle.pop()
            if since >= oldest and not connection.is_closed and not connection.has_something_to_read:
                with self._lock:
                    self._lent.add(connection)
                return connection
            connection.close()

    def _give_back(self, address: Address, connection: Connection) -> None:
        with self._lock:
            self._lent.discard(connection)
            if not self._is_closed and not connection.is_closed and connection.in_flight_count == 0:
                self._idle.setdefault(address, []).append((connection, time.monotonic()))
                return
        connection.close()
