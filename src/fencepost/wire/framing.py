"""Bytes of a connection to frames: feed what arrives, pull what is complete.

A frame is four bytes of length and that many bytes. The length is checked before memory is taken, and memory grows with
what has arrived, not with what the length promises. A frame that lies whole inside one fed chunk is a view over it; one
that spans chunks is gathered once, in a buffer of its own.
"""

from collections import deque
from struct import Struct

from fencepost.errors import WireError
from fencepost.types import Buffer

LENGTH = Struct(">i")


class FrameReader:
    """After a `WireError` the connection has lost its place: close it."""

    __slots__ = ("_at", "_chunks", "_gathered", "_max_frame_bytes", "_missing")

    def __init__(self, max_frame_bytes: int) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._chunks: deque[memoryview] = deque()
        self._at = 0
        """Position in the first chunk."""
        self._gathered = bytearray()
        """The start of a frame, prefix included, that did not lie whole inside one chunk."""
        self._missing = 0
        """How many bytes `_gathered` lacks, as far as is known: to its prefix first, then to the whole frame."""

    def feed(self, data: Buffer) -> None:
        """Take what arrived. Anything but `bytes` is copied, so that the caller may use its buffer again."""
        if len(data):
            self._chunks.append(memoryview(data if isinstance(data, bytes) else bytes(data)))

    def pull(self) -> memoryview | None:
        """The next complete frame without its prefix, or None until more is fed."""
        while self._chunks:
            frame = self._pull_gathered() if self._gathered else self._pull_whole()
            if frame is not None:
                return frame
        return None

    @property
    def has_partial_frame(self) -> bool:
        """Whether some, not all, of a frame has arrived. Ask when `pull` gave None."""
        return bool(self._gathered or self._chunks)

    def _pull_whole(self) -> memoryview | None:
        chunk, at = self._chunks[0], self._at
        start = at + LENGTH.size
        if start <= len(chunk):
            end = start + self._checked_length(chunk, at)
            if end <= len(chunk):
                self._advance(chunk, end)
                return chunk[start:end]
            self._missing = end - len(chunk)
        else:
            self._missing = start - len(chunk)
        self._gathered += chunk[at:]
        self._advance(chunk, len(chunk))
        return None

    def _pull_gathered(self) -> memoryview | None:
        chunk = self._chunks[0]
        end = min(self._at + self._missing, len(chunk))
        self._gathered += chunk[self._at : end]
        self._missing -= end - self._at
        self._advance(chunk, end)
        if self._missing:
            return None
        if len(self._gathered) == LENGTH.size:
            self._missing = self._checked_length(self._gathered, 0)
            if self._missing:
                return None
        frame = memoryview(self._gathered)[LENGTH.size :].toreadonly()
        self._gathered = bytearray()
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
