"""What all generated messages share.

One class serves all versions of a message: it has the fields of every version, and `read` and `write` pick those of the
version asked for. A field that a version lacks is left at its default by `read` and dropped by `write`, even where
Kafka would refuse: kio, where the schemas come from, does not say which fields Kafka calls ignorable.
"""

from struct import error as StructError  # noqa: N812
from typing import ClassVar, Self

from fencepost.errors import WireError
from fencepost.types import Buffer
from fencepost.wire.reading import Data

# A frame in the making: one growing byte string plus the record batches spliced into it.
#
# Batches are never copied: `pieces()` gives the frame as a list of buffers, ready for `writev`.


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


VERSION_PREFIX_BYTES = 2


class Message:
    __slots__ = ()

    MIN_VERSION: ClassVar[int]
    MAX_VERSION: ClassVar[int]

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[Message, int]":
        raise NotImplementedError

    def write(self, out: Output, version: int) -> None:
        raise NotImplementedError

    @classmethod
    def decode(cls, data: Data, version: int, at: int = 0) -> Self:
        """The message at `at`. Bytes that follow it are ignored, as Kafka ignores them."""
        try:
            message, _ = cls.read(data, at, version)
        except (StructError, IndexError) as ended:
            raise WireError(f"{cls.__name__} v{version} is cut short: {len(data) - at} bytes") from ended
        except UnicodeDecodeError as undecodable:
            raise WireError(f"{cls.__name__} v{version} has a string that is not UTF-8: {undecodable}") from undecodable
        return message  # type: ignore[return-value]

    def encode(self, out: Output, version: int) -> None:
        """Append the message to `out`."""
        try:
            self.write(out, version)
        except (StructError, UnicodeEncodeError, OverflowError) as unfit:
            raise WireError(
                f"{type(self).__name__} v{version} has a value that its field cannot hold: {unfit}"
            ) from unfit


class VersionedRecord(Message):
    """A message stored as a key or value of a record: two bytes of version, then the body."""

    __slots__ = ()

    @classmethod
    def from_bytes(cls, data: Data) -> Self:
        version = record_version(data)
        if not cls.MIN_VERSION <= version <= cls.MAX_VERSION:
            raise WireError(f"{cls.__name__} has versions {cls.MIN_VERSION} to {cls.MAX_VERSION}, found {version}")
        return cls.decode(data, version, VERSION_PREFIX_BYTES)

    def to_bytes(self, version: int) -> bytes:
        out = Output()
        out += version.to_bytes(VERSION_PREFIX_BYTES, "big", signed=True)
        self.encode(out, version)
        return bytes(out)


class ConsumerProtocolRecord(VersionedRecord):
    """What consumers tell each other in JoinGroup and SyncGroup. Versions only add fields: a newer one is readable."""

    __slots__ = ()

    @classmethod
    def from_bytes(cls, data: Data) -> Self:
        version = record_version(data)
        if version < cls.MIN_VERSION:
            raise WireError(f"{cls.__name__} has versions from {cls.MIN_VERSION}, found {version}")
        return cls.decode(data, min(version, cls.MAX_VERSION), VERSION_PREFIX_BYTES)


def record_version(data: Data) -> int:
    """The version in front of a stored key or value. For keys of `__consumer_offsets` it tells which record it is."""
    if len(data) < VERSION_PREFIX_BYTES:
        raise WireError(f"a stored key or value starts with two bytes of version, found {len(data)} bytes")
    return int.from_bytes(data[:VERSION_PREFIX_BYTES], "big", signed=True)
