"""SaslHandshake, API key 17, versions 0 to 1.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import Data, read_string, read_strings
from fencepost.wire.writing import write_string, write_strings

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack


@dataclass(slots=True)
class SaslHandshakeRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    mechanism: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[SaslHandshakeRequest, int]":
        mechanism, at = read_string(data, at)
        return SaslHandshakeRequest(mechanism), at

    def write(self, out: Output, version: int) -> None:
        write_string(out, self.mechanism)


@dataclass(slots=True)
class SaslHandshakeResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1

    error_code: int = 0
    mechanisms: list[str] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[SaslHandshakeResponse, int]":
        error_code = _read_h(data, at)[0]
        at += 2
        mechanisms, at = read_strings(data, at)
        return SaslHandshakeResponse(error_code, mechanisms), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_h(self.error_code)
        write_strings(out, self.mechanisms)
