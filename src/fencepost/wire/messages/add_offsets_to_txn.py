"""AddOffsetsToTxn, API key 25, versions 0 to 4.

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
_read_qh = Struct(">qh").unpack_from
_pack_qh = Struct(">qh").pack


@dataclass(slots=True)
class AddOffsetsToTxnRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4

    transactional_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    group_id: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AddOffsetsToTxnRequest, int]":
        transactional_id, at = (read_compact_string if version >= 3 else read_string)(data, at)
        producer_id, producer_epoch = _read_qh(data, at)
        at += 10
        group_id, at = (read_compact_string if version >= 3 else read_string)(data, at)
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AddOffsetsToTxnRequest(transactional_id, producer_id, producer_epoch, group_id), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 3 else write_string)(out, self.transactional_id)
        out += _pack_qh(self.producer_id, self.producer_epoch)
        (write_compact_string if version >= 3 else write_string)(out, self.group_id)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class AddOffsetsToTxnResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4

    throttle_time_ms: int = 0
    error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AddOffsetsToTxnResponse, int]":
        throttle_time_ms, error_code = _read_ih(data, at)
        at += 6
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AddOffsetsToTxnResponse(throttle_time_ms, error_code), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.throttle_time_ms, self.error_code)
        if version >= 3:
            out.append(0)
