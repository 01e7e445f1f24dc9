"""DescribeUserScramCredentials, API key 50, versions 0 to 0.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    Data,
    read_compact_array,
    read_compact_nullable_array,
    read_compact_nullable_string,
    read_compact_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_compact_array,
    write_compact_nullable_array,
    write_compact_nullable_string,
    write_compact_string,
)

_read_bi = Struct(">bi").unpack_from
_pack_bi = Struct(">bi").pack
_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack


@dataclass(slots=True)
class UserName:
    name: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[UserName, int]":
        name, at = read_compact_string(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return UserName(name), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.name)
        out.append(0)


@dataclass(slots=True)
class DescribeUserScramCredentialsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    users: list[UserName] | None = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeUserScramCredentialsRequest, int]":
        users, at = read_compact_nullable_array(data, at, version, UserName.read, 2)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeUserScramCredentialsRequest(users), at

    def write(self, out: Output, version: int) -> None:
        write_compact_nullable_array(out, self.users, version)
        out.append(0)


@dataclass(slots=True)
class CredentialInfo:
    mechanism: int = 0
    iterations: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[CredentialInfo, int]":
        mechanism, iterations = _read_bi(data, at)
        at += 5
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return CredentialInfo(mechanism, iterations), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_bi(self.mechanism, self.iterations)
        out.append(0)


@dataclass(slots=True)
class DescribeUserScramCredentialsResult:
    user: str = ""
    error_code: int = 0
    error_message: str | None = ""
    credential_infos: list[CredentialInfo] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeUserScramCredentialsResult, int]":
        user, at = read_compact_string(data, at)
        error_code = _read_h(data, at)[0]
        at += 2
        error_message, at = read_compact_nullable_string(data, at)
        credential_infos, at = read_compact_array(data, at, version, CredentialInfo.read, 6)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeUserScramCredentialsResult(user, error_code, error_message, credential_infos), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.user)
        out += _pack_h(self.error_code)
        write_compact_nullable_string(out, self.error_message)
        write_compact_array(out, self.credential_infos, version)
        out.append(0)


@dataclass(slots=True)
class DescribeUserScramCredentialsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    results: list[DescribeUserScramCredentialsResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeUserScramCredentialsResponse, int]":
        throttle_time_ms, error_code = _read_ih(data, at)
        at += 6
        error_message, at = read_compact_nullable_string(data, at)
        results, at = read_compact_array(data, at, version, DescribeUserScramCredentialsResult.read, 6)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeUserScramCredentialsResponse(throttle_time_ms, error_code, error_message, results), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.throttle_time_ms, self.error_code)
        write_compact_nullable_string(out, self.error_message)
        write_compact_array(out, self.results, version)
        out.append(0)
