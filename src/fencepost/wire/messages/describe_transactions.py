"""DescribeTransactions, API key 65, versions 0 to 0.

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
    read_compact_integers,
    read_compact_string,
    read_compact_strings,
    skip_tags,
)
from fencepost.wire.writing import (
    write_compact_array,
    write_compact_integers,
    write_compact_string,
    write_compact_strings,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_iqqh = Struct(">iqqh").unpack_from
_pack_iqqh = Struct(">iqqh").pack


@dataclass(slots=True)
class DescribeTransactionsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    transactional_ids: list[str] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeTransactionsRequest, int]":
        transactional_ids, at = read_compact_strings(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeTransactionsRequest(transactional_ids), at

    def write(self, out: Output, version: int) -> None:
        write_compact_strings(out, self.transactional_ids)
        out.append(0)


@dataclass(slots=True)
class TopicData:
    topic: str = ""
    partitions: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TopicData, int]":
        topic, at = read_compact_string(data, at)
        partitions, at = read_compact_integers(data, at, "i", 4)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TopicData(topic, partitions), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.topic)
        write_compact_integers(out, self.partitions, "i")
        out.append(0)


@dataclass(slots=True)
class TransactionState:
    error_code: int = 0
    transactional_id: str = ""
    transaction_state: str = ""
    transaction_timeout_ms: int = 0
    transaction_start_time_ms: int = 0
    producer_id: int = 0
    producer_epoch: int = 0
    topics: list[TopicData] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TransactionState, int]":
        error_code = _read_h(data, at)[0]
        at += 2
        transactional_id, at = read_compact_string(data, at)
        transaction_state, at = read_compact_string(data, at)
        transaction_timeout_ms, transaction_start_time_ms, producer_id, producer_epoch = _read_iqqh(data, at)
        at += 22
        topics, at = read_compact_array(data, at, version, TopicData.read, 3)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TransactionState(
            error_code,
            transactional_id,
            transaction_state,
            transaction_timeout_ms,
            transaction_start_time_ms,
            producer_id,
            producer_epoch,
            topics,
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_h(self.error_code)
        write_compact_string(out, self.transactional_id)
        write_compact_string(out, self.transaction_state)
        out += _pack_iqqh(
            self.transaction_timeout_ms, self.transaction_start_time_ms, self.producer_id, self.producer_epoch
        )
        write_compact_array(out, self.topics, version)
        out.append(0)


@dataclass(slots=True)
class DescribeTransactionsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0

    throttle_time_ms: int = 0
    transaction_states: list[TransactionState] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[DescribeTransactionsResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        transaction_states, at = read_compact_array(data, at, version, TransactionState.read, 28)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return DescribeTransactionsResponse(throttle_time_ms, transaction_states), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        write_compact_array(out, self.transaction_states, version)
        out.append(0)
