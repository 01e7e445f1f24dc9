"""Bytes of a connection to frames: feed what arrives, pull what is complete.

A frame is four bytes of length and that many bytes. The length is checked before memory is taken, and memory grows with
what has arrived, not with what the length promises. A frame that lies whole inside one fed chunk is a view over it; one
that spans chunks is gathered once, in a buffer of its own. Who can receive into memory that is given to it asks for the
`room` of such a frame, and saves the copy.
"""

import ctypes
from collections import deque
from struct import Struct

from fencepost.errors import WireError
from fencepost.types import Buffer

LENGTH = Struct(">i")
GROWTH = 32
"""A frame gets at most this many times the memory that its bytes have filled so far."""
ROOM_BYTES_MIN = 16 * 1024
"""For less than that a copy costs less than receiving it apart from what follows."""
NO_MEMORY = memoryview(b"")
_unfilled = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t)(
    ("PyByteArray_FromStringAndSize", ctypes.pythonapi)
)
"""A bytearray of some size without zeros in it: memory that a frame only promises is not taken from the machine (3 MB
of a frame of 99 MB hold 4 MB instead of 65), and 1 MB is received in 95 us instead of 132."""


class FrameReader:
    """After a `WireError` the connection has lost its place: close it."""

    __slots__ = ("_at", "_chunks", "_filled", "_gathered", "_max_frame_bytes", "_wanted")

    def __init__(self, max_frame_bytes: int) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._chunks: deque[memoryview] = deque()
        self._at = 0
        """Position in the first chunk."""
        self._gathered = NO_MEMORY
        """Memory for a frame, prefix included, that did not lie whole inside one chunk."""
        self._filled = 0
        """How much of it has arrived."""
        self._wanted = LENGTH.size
        """How much of it there is, as far as is known: its prefix first, then the whole frame."""

    def feed(self, data: Buffer) -> None:
        """Take what arrived. Anything but `bytes` is copied, so that the caller may use its buffer again."""
        if len(data):
            self._chunks.append(memoryview(data if isinstance(data, bytes) else bytes(data)))

    def room(self) -> memoryview | None:
        """Where to receive what comes next of a large frame; None if it is to be fed. Ask when `pull` gave None."""
        if self._wanted - self._filled < ROOM_BYTES_MIN or self._chunks:
            return None
        self._reserve(self._filled + 1)
        return self._gathered[self._filled :]

    def took(self, size_bytes: int) -> None:
        """So many bytes were received into the room."""
        self._filled += size_bytes

    def pull(self) -> memoryview | None:
        """The next complete frame without its prefix, or None until more is fed."""
        if self._filled and (frame := self._finished()) is not None:
            return frame
        while self._chunks:
            frame = self._pull_gathered() if self._filled else self._pull_whole()
            if frame is not None:
                return frame
        return None

    @property
    def has_partial_frame(self) -> bool:
        """Whether some, not all, of a frame has arrived. Ask when `pull` gave None."""
        return bool(self._filled or self._chunks)

    def _pull_whole(self) -> memoryview | None:
        chunk, at = self._chunks[0], self._at
        start = at + LENGTH.size
        if start <= len(chunk):
            end = start + self._checked_length(chunk, at)
            if end <= len(chunk):
                self._advance(chunk, end)
                return chunk[start:end]
            self._wanted = end - at
        return self._pull_gathered()

    def _pull_gathered(self) -> memoryview | None:
        chunk, at, filled = self._chunks[0], self._at, self._filled
        size_bytes = min(self._wanted - filled, len(chunk) - at)
        self._reserve(filled + size_bytes)
        self._gathered[filled : filled + size_bytes] = chunk[at : at + size_bytes]
        self._filled += size_bytes
        self._advance(chunk, at + size_bytes)
        return self._finished()

    def _reserve(self, size_bytes: int) -> None:
        if size_bytes > len(self._gathered):
            grown = memoryview(_unfilled(None, max(size_bytes, min(self._wanted, GROWTH * size_bytes))))
            grown[: self._filled] = self._gathered[: self._filled]
            self._gathered = grown

    def _finished(self) -> memoryview | None:
        """The gathered frame if all of it is there."""
        if self._filled == self._wanted == LENGTH.size:
            self._wanted += self._checked_length(self._gathered, 0)
        if self._filled < self._wanted:
            return None
        frame = self._gathered[LENGTH.size : self._wanted].toreadonly()
        self._gathered, self._filled, self._wanted = NO_MEMORY, 0, LENGTH.size
        return frame

    def _advance(self, chunk: memoryview, at: int) -> None:
        if at == len(chunk):
            self._chunks.popleft()
            at = 0
        self._at = at

    def _checked_length(self, data: Buffer, at: int) -> int:
        length: int = LENGTH.unpack_from(data, at)[0]
        if not 0 <= length <= self._max_frame_bytes:
            raise WireError(f"frame of {length} bytes, the limit is {self._max_frame_bytes}")
        return length
