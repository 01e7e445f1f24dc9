"""One client connection: frames in, replies out, in the order of the requests.

The protocol object owns what belongs to one socket: the frame reader, the queue of calls that wait for their answer,
and the brakes: a client that does not read its answers, or sends faster than they can be given or than the disk
writes, is not read from. What a request means is the server's business (`BrokerServer`).
"""

import asyncio
from collections import deque
from typing import TYPE_CHECKING, cast

from fencepost.broker.call import Call, Peer
from fencepost.errors import WireError
from fencepost.types import Buffer
from fencepost.wire.framing import FrameReader

if TYPE_CHECKING:
    from fencepost.server.broker_server import BrokerServer

WRITE_BUFFER_HIGH_BYTES = 4 << 20
RECEIVED_BYTES = 64 << 10


class ClientConnection(asyncio.BufferedProtocol):
    def __init__(
        self, server: "BrokerServer", *, connection_id: int, frame_bytes_max: int, queued_calls_max: int
    ) -> None:
        self.server = server
        self.connection_id = connection_id
        self.peer = Peer(connection_id, "?", 0)
        self.waiting: deque[Call] = deque()
        self.last_activity_ms = 0
        self.frame_started_ms: int | None = None
        self.close_reason = ""
        self._frames = FrameReader(frame_bytes_max)
        self._room: memoryview | None = None
        self._queued_calls_max = queued_calls_max
        self._transport: asyncio.Transport | None = None
        self._closing: asyncio.Transport | None = None
        self.closing_since_ms: int | None = None
        self._can_write = True
        self._is_reading = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER_HIGH_BYTES)
        address = transport.get_extra_info("peername") or ("?", 0)
        self.peer = Peer(self.connection_id, address[0], address[1])
        self.last_activity_ms = self.server.monotonic_ms()
        self.server.connection_opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = self._closing = None
        self.waiting.clear()
        self.server.connection_closed(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the event loop receives what comes next: in its place, if that is known."""
        self._room = self._frames.room()
        return self.server.received if self._room is None else self._room

    def buffer_updated(self, nbytes: int) -> None:
        self.last_activity_ms = self.server.monotonic_ms()
        if self._room is None:
            self._frames.feed(bytes(self.server.received[:nbytes]))
        else:
            self._frames.took(nbytes)
            self._room = None
        self._take_frames()

    def _take_frames(self) -> None:
        try:
            while self._is_reading and self._transport is not None:
                frame = self._frames.pull()
                if frame is None:
                    break
                self.server.receive_frame(self, frame)
                self.adjust_reading()
        except WireError as problem:
            self.close(f"broken request: {problem}")
        # What lies here unread has arrived.
        is_awaited = self._is_reading and self._frames.has_partial_frame
        self.frame_started_ms = self.last_activity_ms if is_awaited else None

    def flush(self) -> None:
        """Send the replies whose turn has come: in request order, and only what the journal has synced."""
        waiting, server = self.waiting, self.server
        if not waiting or self._transport is None:
            return
        pieces: list[Buffer] = []
        synced_position = server.synced_position
        try:
            while waiting and (reply := waiting[0].reply) is not None and reply.position <= synced_position:
                pieces += server.encode_reply(waiting.popleft())
        except WireError as problem:
            # No later reply may take the place of this one.
            waiting.clear()
            self.close(f"the reply cannot be encoded: {problem}")
            return
        if pieces:
            self._transport.writelines(pieces)
            self.last_activity_ms = server.monotonic_ms()
            self.adjust_reading()

    def pause_writing(self) -> None:
        self._can_write = False
        self.adjust_reading()

    def resume_writing(self) -> None:
        self._can_write = True
        self.adjust_reading()

    def adjust_reading(self) -> None:
        is_taken = self.server.takes_requests
        if not is_taken:
            self.server.hold_back(self)
        wanted = self._can_write and len(self.waiting) < self._queued_calls_max and is_taken
        if self._transport is None or wanted == self._is_reading:
            return
        self._is_reading = wanted
        if wanted:
            self.last_activity_ms = self.server.monotonic_ms()
            self._transport.resume_reading()
            asyncio.get_running_loop().call_soon(self._take_frames)
        else:
            self._transport.pause_reading()

    def close(self, reason: str) -> None:
        """Close after what may leave by now has left."""
        self.flush()
        if self._transport is not None:
            self.close_reason = reason
            self.closing_since_ms = self.server.monotonic_ms()
            self._transport.close()
            self._closing, self._transport = self._transport, None

    def cut_off(self) -> None:
        """A client that does not read cannot keep a closed connection open."""
        if self._closing is not None:
            self._closing.abort()
