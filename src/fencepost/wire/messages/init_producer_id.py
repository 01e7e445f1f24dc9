"""InitProducerId, API key 22, versions 0 to 6.

Written by scripts/generate_messages.py; do not edit.
"""

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import Data, read_compact_nullable_string, read_nullable_string, skip_tags
from fencepost.wire.writing import write_compact_nullable_string, write_nullable_string

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ihqh = Struct(">ihqh").unpack_from
_pack_ihqh = Struct(">ihqh").pack
_read_ihqhqh = Struct(">ihqhqh").unpack_from
_pack_ihqhqh = Struct(">ihqhqh").pack
_read_iqhoo = Struct(">iqh??").unpack_from
_pack_iqhoo = Struct(">iqh??").pack
_read_qh = Struct(">qh").unpack_from
_pack_qh = Struct(">qh").pack


@dataclass(slots=True)
class InitProducerIdRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6

    transactional_id: str | None = ""
    transaction_timeout_ms: int = 0
    producer_id: int = -1  # v3+
    producer_epoch: int = -1  # v3+
    enable2_pc: bool = False  # v6+
    keep_prepared_txn: bool = False  # v6+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[InitProducerIdRequest, int]":
        transactional_id, at = (read_compact_nullable_string if version >= 2 else read_nullable_string)(data, at)
        if version >= 6:
            transaction_timeout_ms, producer_id, producer_epoch, enable2_pc, keep_prepared_txn = _read_iqhoo(data, at)
            at += 16
        else:
            transaction_timeout_ms = _read_i(data, at)[0]
            at += 4
            producer_id = -1
            producer_epoch = -1
            if version >= 3:
                producer_id, producer_epoch = _read_qh(data, at)
                at += 10
            enable2_pc = False
            keep_prepared_txn = False
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return InitProducerIdRequest(
            transactional_id, transaction_timeout_ms, producer_id, producer_epoch, enable2_pc, keep_prepared_txn
        ), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_nullable_string if version >= 2 else write_nullable_string)(out, self.transactional_id)
        if version >= 6:
            out += _pack_iqhoo(
                self.transaction_timeout_ms,
                self.producer_id,
                self.producer_epoch,
                self.enable2_pc,
                self.keep_prepared_txn,
            )
        else:
            out += _pack_i(self.transaction_timeout_ms)
            if version >= 3:
                out += _pack_qh(self.producer_id, self.producer_epoch)
        if version >= 2:
            out.append(0)


@dataclass(slots=True)
class InitProducerIdResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6

    throttle_time_ms: int = 0
    error_code: int = 0
    producer_id: int = -1
    producer_epoch: int = 0
    ongoing_txn_producer_id: int = -1  # v6+
    ongoing_txn_producer_epoch: int = -1  # v6+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[InitProducerIdResponse, int]":
        if version >= 6:
            (
                throttle_time_ms,
                error_code,
                producer_id,
                producer_epoch,
                ongoing_txn_producer_id,
                ongoing_txn_producer_epoch,
            ) = _read_ihqhqh(data, at)
            at += 26
        else:
            throttle_time_ms, error_code, producer_id, producer_epoch = _read_ihqh(data, at)
            at += 16
            ongoing_txn_producer_id = -1
            ongoing_txn_producer_epoch = -1
        if version >= 2:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return InitProducerIdResponse(
            throttle_time_ms,
            error_code,
            producer_id,
            producer_epoch,
            ongoing_txn_producer_id,
            ongoing_txn_producer_epoch,
        ), at

    def write(self, out: Output, version: int) -> None:
        if version >= 6:
            out += _pack_ihqhqh(
                self.throttle_time_ms,
                self.error_code,
                self.producer_id,
                self.producer_epoch,
                self.ongoing_txn_producer_id,
                self.ongoing_txn_producer_epoch,
            )
        else:
            out += _pack_ihqh(self.throttle_time_ms, self.error_code, self.producer_id, self.producer_epoch)
        if version >= 2:
            out.append(0)
