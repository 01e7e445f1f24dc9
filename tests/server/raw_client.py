"""A client that speaks in bytes, to say what a well-behaved one never would."""

import socket
import struct
from types import TracebackType
from typing import Self

from fencepost.wire.codec import encode_request, read_response
from fencepost.wire.message import Message

TIMEOUT_S = 10.0


class RawClient:
    def __init__(self, bootstrap_servers: str) -> None:
        host, port = bootstrap_servers.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)
        self._correlation_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.socket.close()

    def send(self, api_key: int, version: int, message: Message) -> int:
        """Send a request and do not wait. Returns its correlation id."""
        self._correlation_id += 1
        self.socket.sendall(b"".join(encode_request(api_key, version, self._correlation_id, "raw", message)))
        return self._correlation_id

    def ask(self, api_key: int, version: int, message: Message) -> Message:
        correlation_id = self.send(api_key, version, message)
        answered, response = self.receive(api_key, version)
        assert answered == correlation_id
        return response

    def receive(self, api_key: int, version: int) -> tuple[int, Message]:
        frame = self.receive_frame()
        assert frame is not None, "the broker closed the connection"
        return read_response(api_key, version, frame)

    def receive_frame(self) -> bytes | None:
        """The next frame, or None when the broker has closed the connection."""
        prefix = self._read(4)
        return None if prefix is None else self._read(struct.unpack(">i", prefix)[0])

    def is_closed_by_broker(self) -> bool:
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _read(self, size_bytes: int) -> bytes | None:
        data = b""
        while len(data) < size_bytes:
            try:
                piece = self.socket.recv(size_bytes - len(data))
            except ConnectionResetError:
                return None
            if not piece:
                return None
            data += piece
        return data
