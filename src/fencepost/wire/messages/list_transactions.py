"""ListTransactions, API key 66, versions 0 to 2.

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
    read_compact_nullable_string,
    read_compact_string,
    read_compact_strings,
    skip_tags,
)
from fencepost.wire.writing import (
    write_compact_array,
    write_compact_integers,
    write_compact_nullable_string,
    write_compact_string,
    write_compact_strings,
)

_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_q = Struct(">q").unpack_from
_pack_q = Struct(">q").pack


@dataclass(slots=True)
class ListTransactionsRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    state_filters: list[str] = field(default_factory=list)
    producer_id_filters: list[int] = field(default_factory=list)
    duration_filter: int = -1  # v1+
    transactional_id_pattern: str | None = None  # v2+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListTransactionsRequest, int]":
        state_filters, at = read_compact_strings(data, at)
        producer_id_filters, at = read_compact_integers(data, at, "q", 8)
        duration_filter: int = -1
        if version >= 1:
            duration_filter = _read_q(data, at)[0]
            at += 8
        transactional_id_pattern: str | None = None
        if version >= 2:
            transactional_id_pattern, at = read_compact_nullable_string(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListTransactionsRequest(
            state_filters, producer_id_filters, duration_filter, transactional_id_pattern
        ), at

    def write(self, out: Output, version: int) -> None:
        write_compact_strings(out, self.state_filters)
        write_compact_integers(out, self.producer_id_filters, "q")
        if version >= 1:
            out += _pack_q(self.duration_filter)
        if version >= 2:
            write_compact_nullable_string(out, self.transactional_id_pattern)
        out.append(0)


@dataclass(slots=True)
class TransactionState:
    transactional_id: str = ""
    producer_id: int = 0
    transaction_state: str = ""

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[TransactionState, int]":
        transactional_id, at = read_compact_string(data, at)
        producer_id = _read_q(data, at)[0]
        at += 8
        transaction_state, at = read_compact_string(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return TransactionState(transactional_id, producer_id, transaction_state), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.transactional_id)
        out += _pack_q(self.producer_id)
        write_compact_string(out, self.transaction_state)
        out.append(0)


@dataclass(slots=True)
class ListTransactionsResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2

    throttle_time_ms: int = 0
    error_code: int = 0
    unknown_state_filters: list[str] = field(default_factory=list)
    transaction_states: list[TransactionState] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ListTransactionsResponse, int]":
        throttle_time_ms, error_code = _read_ih(data, at)
        at += 6
        unknown_state_filters, at = read_compact_strings(data, at)
        transaction_states, at = read_compact_array(data, at, version, TransactionState.read, 11)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ListTransactionsResponse(throttle_time_ms, error_code, unknown_state_filters, transaction_states), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.throttle_time_ms, self.error_code)
        write_compact_strings(out, self.unknown_state_filters)
        write_compact_array(out, self.transaction_states, version)
        out.append(0)
