"""SaslAuthenticate, API key 36, versions 0 to 2.

Written by scripts/generate_messages.py; do not edit.
"""

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    Data,
    read_bytes,
    read_compact_bytes,
    read_compact_nullable_string,
    read_nullable_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_bytes,
    write_compact_bytes,
    write_compact_nullable_string,
    write_nullable_string,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_q = Struct(">q").unpack_from
_pack_q = Struct(">q").pack


@dataclass(slots=True)
class SaslAuthenticateRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    auth_bytes: bytes = b""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[SaslAuthenticateRequest, int]":
        auth_bytes, at = (read_compact_bytes if version >= 2 else read_bytes)(data, at)
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return SaslAuthenticateRequest(auth_bytes), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_bytes if version >= 2 else write_bytes)(out, self.auth_bytes)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class SaslAuthenticateResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    error_code: int = 0
    error_message: str | None = ""
    auth_bytes: bytes = b""
    session_lifetime_ms: int = 0  # v1+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[SaslAuthenticateResponse, int]":
        error_code = _read_h(data, at)[0]
        at += 2
        error_message, at = (read_compact_nullable_string if version >= 2 else read_nullable_string)(data, at)
        auth_bytes, at = (read_compact_bytes if version >= 2 else read_bytes)(data, at)
        session_lifetime_ms: int = 0
        if version >= 1:
            session_lifetime_ms = _read_q(data, at)[0]
            at += 8
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return SaslAuthenticateResponse(error_code, error_message, auth_bytes, session_lifetime_ms), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_h(self.error_code)
        (write_compact_nullable_string if version >= 2 else write_nullable_string)(out, self.error_message)
        (write_compact_bytes if version >= 2 else write_bytes)(out, self.auth_bytes)
        if version >= 1:
            out += _pack_q(self.session_lifetime_ms)
        if version >= 2:
            out.append(0)
