"""EndTxn, API key 26, versions 0 to 5.

Written by scripts/generate_messages.py; do not edit.
"""

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import Data, read_compact_string, read_string, skip_tags
from fencepost.wire.writing import write_compact_string, write_string

_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_ihqh = Struct(">ihqh").unpack_from
_pack_ihqh = Struct(">ihqh").pack
_read_qho = Struct(">qh?").unpack_from
_pack_qho = Struct(">qh?").pack


@dataclass(slots=True)
class EndTxnRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5

    transactional_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    committed: bool = False

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[EndTxnRequest, int]":
        transactional_id, at = (read_compact_string if version >= 3 else read_string)(data, at)
        producer_id, producer_epoch, committed = _read_qho(data, at)
        at += 11
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return EndTxnRequest(transactional_id, producer_id, producer_epoch, committed), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 3 else write_string)(out, self.transactional_id)
        out += _pack_qho(self.producer_id, self.producer_epoch, self.committed)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class EndTxnResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5

    throttle_time_ms: int = 0
    error_code: int = 0
    producer_id: int = -1  # v5+
    producer_epoch: int = -1  # v5+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[EndTxnResponse, int]":
        if version >= 5:
            throttle_time_ms, error_code, producer_id, producer_epoch = _read_ihqh(data, at)
            at += 16
        else:
            throttle_time_ms, error_code = _read_ih(data, at)
            at += 6
            producer_id = -1
            producer_epoch = -1
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return EndTxnResponse(throttle_time_ms, error_code, producer_id, producer_epoch), at

    def write(self, out: Output, version: int) -> None:
        if version >= 5:
            out += _pack_ihqh(self.throttle_time_ms, self.error_code, self.producer_id, self.producer_epoch)
        else:
            out += _pack_ih(self.throttle_time_ms, self.error_code)
        if version >= 3:
            out.append(0)
