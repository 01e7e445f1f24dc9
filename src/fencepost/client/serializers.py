"""Values to bytes and back, as Kafka's own serializers write them. A serializer is any function; None stays None."""

from collections.abc import Callable
from struct import Struct
from struct import error as StructError  # noqa: N812
from typing import Any

from fencepost.errors import FencepostError

Serializer = Callable[[Any], "bytes | None"]
Deserializer = Callable[["bytes | None"], Any]

_INTEGER = Struct(">i")
_LONG = Struct(">q")


class SerializationError(FencepostError, ValueError):
    """A value that the serializer cannot write, or bytes that the deserializer cannot read."""


def serialize_bytes(value: bytes | bytearray | memoryview | None) -> bytes | None:
    if value is None or type(value) is bytes:
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise SerializationError(
        f"{value!r} is not bytes: encode it, or give the producer key_serializer and value_serializer"
    )


def deserialize_bytes(data: bytes | None) -> bytes | None:
    return data


def serialize_string(value: str | None) -> bytes | None:
    """UTF-8."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise SerializationError(f"{value!r} is not a string")
    return value.encode()


def deserialize_string(data: bytes | None) -> str | None:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        raise SerializationError(f"{data!r} is not UTF-8") from problem


def serialize_integer(value: int | None) -> bytes | None:
    """Four bytes, big-endian: Kafka's IntegerSerializer."""
    return _pack(_INTEGER, value)


def deserialize_integer(data: bytes | None) -> int | None:
    return _unpack(_INTEGER, data)


def serialize_long(value: int | None) -> bytes | None:
    """Eight bytes, big-endian: Kafka's LongSerializer."""
    return _pack(_LONG, value)


def deserialize_long(data: bytes | None) -> int | None:
    return _unpack(_LONG, data)


def _pack(layout: Struct, value: int | None) -> bytes | None:
    if value is None:
        return None
    try:
        return layout.pack(value)
    except StructError as problem:
        raise SerializationError(f"{value!r} is not a whole number of {layout.size} bytes") from problem


def _unpack(layout: Struct, data: bytes | None) -> int | None:
    if data is None:
        return None
    if len(data) != layout.size:
        raise SerializationError(f"{len(data)} bytes: a whole number takes {layout.size} here")
    number: int = layout.unpack(data)[0]
    return number
