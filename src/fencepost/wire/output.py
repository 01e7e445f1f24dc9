"""A frame in the making: one growing byte string plus the record batches spliced into it.

Batches are never copied: `pieces()` gives the frame as a list of buffers, ready for `writev`.
"""

from fencepost.types import Buffer

_NO_SPLICES: list[tuple[int, Buffer]] = []


class Output(bytearray):
    """A frame in the making. Most have no splices and never pay for a list of them."""

    splices: list[tuple[int, Buffer]] = _NO_SPLICES
    spliced_bytes = 0

    def splice(self, buffer: Buffer) -> None:
        """Put `buffer` here without copying it; it must not change until the frame is sent."""
        if len(buffer):
            if not self.splices:
                self.splices = []
            self.splices.append((len(self), buffer))
            self.spliced_bytes += len(buffer)

    def pieces(self) -> list[Buffer]:
        if not self.splices:
            return [self]
        pieces: list[Buffer] = []
        view, start = memoryview(self), 0
        for position, buffer in self.splices:
            if position > start:
                pieces.append(view[start:position])
            pieces.append(buffer)
            start = position
        if start < len(self):
            pieces.append(view[start:])
        return pieces
