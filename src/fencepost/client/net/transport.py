"""Bytes to and from one broker, with deadlines: TCP, or TLS over it.

The socket never blocks; who waits, waits in `poll`, so that one thread may send while another receives. OpenSSL allows
one call at a time on a connection: those share a lock that is only ever held across a call that returns at once.
"""

import contextlib
import select
import socket
import ssl
import threading
from collections.abc import Callable
from typing import TypeVar

from fencepost.client.exceptions import AuthenticationFailed, Disconnected, Timeout
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Deadline
from fencepost.types import Buffer

RECEIVE_BYTES = 64 * 1024
"""Where nothing larger is known to come."""
PIECES_MAX = 512
"""Buffers in one `sendmsg`; systems take 1024."""

ReceivedT = TypeVar("ReceivedT", bytes, int)


class Transport:
    def __init__(self, sock: socket.socket, address: str) -> None:
        self._socket = sock
        self._tls_lock = threading.Lock() if isinstance(sock, ssl.SSLSocket) else None
        self.address = address

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, pieces: list[Buffer], deadline: Deadline) -> None:
        """All of `pieces`, or an error that says how far the connection is to be trusted: not at all."""
        if self._tls_lock is not None:
            pieces = [b"".join(pieces)]
        views = [memoryview(piece) for piece in pieces]
        while views:
            try:
                sent = self._send_some(views)
            except (BlockingIOError, ssl.SSLWantWriteError):
                self._wait(select.POLLOUT, deadline, "to take a request")
            except ssl.SSLWantReadError:
                self._wait(select.POLLIN, deadline, "to take a request")
            except OSError as problem:
                raise Disconnected(f"{self.address}: the connection was lost while sending: {problem}") from problem
            else:
                _drop(views, sent)

    def receive(self) -> bytes | None:
        """What has arrived, b"" at the end of the connection, None if nothing is there yet."""
        return self._receive(lambda: self._socket.recv(RECEIVE_BYTES), b"")

    def receive_into(self, room: memoryview) -> int | None:
        """The same into memory that is there: how many bytes, 0 at the end of the connection."""
        return self._receive(lambda: self._socket.recv_into(room), 0)

    def _receive(self, call: Callable[[], ReceivedT], at_end: ReceivedT) -> ReceivedT | None:
        try:
            if self._tls_lock is None:
                return call()
            with self._tls_lock:
                return call()
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return None
        except ssl.SSLEOFError:
            return at_end
        except OSError as problem:
            raise Disconnected(f"{self.address}: the connection was lost: {problem}") from problem

    def wait_readable(self, deadline: Deadline, what: str) -> None:
        self._wait(select.POLLIN, deadline, what)

    @property
    def has_something_to_read(self) -> bool:
        """Bytes, or the end of the connection."""
        poller = select.poll()
        try:
            poller.register(self._socket, select.POLLIN)
        except ValueError:
            return True
        return bool(poller.poll(0))

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _send_some(self, views: list[memoryview]) -> int:
        if self._tls_lock is None:
            return self._socket.sendmsg(views[:PIECES_MAX])
        with self._tls_lock:
            return self._socket.send(views[0])

    def _wait(self, event: int, deadline: Deadline, what: str) -> None:
        poller = select.poll()
        try:
            poller.register(self._socket, event)
        except ValueError as closed:
            raise Disconnected(f"{self.address}: the connection was closed on this side") from closed
        remaining_s = deadline.remaining_s
        if not poller.poll(None if remaining_s == float("inf") else remaining_s * 1000):
            raise Timeout(f"{self.address}: waited too long for the broker {what}")


def open_transport(
    host: str, port: int, settings: ClientSettings, context: ssl.SSLContext | None, deadline: Deadline
) -> Transport:
    address = f"{host}:{port}"
    limit_s = max(0.001, deadline.at_most(settings.socket_connection_setup_timeout_ms / 1000))
    try:
        sock = socket.create_connection((host, port), timeout=limit_s)
    except OSError as problem:
        raise Disconnected(f"{address}: cannot connect: {problem}") from problem
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for option, size_bytes in (
            (socket.SO_RCVBUF, settings.receive_buffer_bytes),
            (socket.SO_SNDBUF, settings.send_buffer_bytes),
        ):
            if size_bytes >= 0:
                sock.setsockopt(socket.SOL_SOCKET, option, size_bytes)
        if context is not None:
            sock = context.wrap_socket(sock, server_hostname=host)
        sock.setblocking(False)
    except ssl.SSLCertVerificationError as problem:
        sock.close()
        raise AuthenticationFailed(f"{address}: the broker's certificate is not trusted: {problem}") from problem
    except OSError as problem:
        sock.close()
        raise Disconnected(f"{address}: cannot secure the connection: {problem}") from problem
    return Transport(sock, address)


def _drop(views: list[memoryview], sent_bytes: int) -> None:
    """Take what was sent off the front."""
    count = 0
    for view in views:
        if sent_bytes < len(view):
            break
        sent_bytes -= len(view)
        count += 1
    del views[:count]
    if sent_bytes:
        views[0] = views[0][sent_bytes:]
