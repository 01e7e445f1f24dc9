"""AddPartitionsToTxn, API key 24, versions 0 to 5.

Written by scripts/generate_messages.py; do not edit.
"""

from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar

from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    Data,
    read_array,
    read_compact_array,
    read_compact_integers,
    read_compact_string,
    read_integers,
    read_string,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_compact_array,
    write_compact_integers,
    write_compact_string,
    write_integers,
    write_string,
)

_read_h = Struct(">h").unpack_from
_pack_h = Struct(">h").pack
_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ih = Struct(">ih").unpack_from
_pack_ih = Struct(">ih").pack
_read_q = Struct(">q").unpack_from
_pack_q = Struct(">q").pack
_read_qho = Struct(">qh?").unpack_from
_pack_qho = Struct(">qh?").pack


@dataclass(slots=True)
class AddPartitionsToTxnTopic:
    name: str = ""
    partitions: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AddPartitionsToTxnTopic, int]":
        name, at = (read_compact_string if version >= 3 else read_string)(data, at)
        partitions, at = (read_compact_integers if version >= 3 else read_integers)(data, at, "i", 4)
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AddPartitionsToTxnTopic(name, partitions), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 3 else write_string)(out, self.name)
        (write_compact_integers if version >= 3 else write_integers)(out, self.partitions, "i")
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class AddPartitionsToTxnTransaction:
    transactional_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    verify_only: bool = False
    topics: list[AddPartitionsToTxnTopic] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AddPartitionsToTxnTransaction, int]":
        transactional_id, at = read_compact_string(data, at)
        producer_id, producer_epoch, verify_only = _read_qho(data, at)
        at += 11
        topics, at = read_compact_array(data, at, version, AddPartitionsToTxnTopic.read, 3)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AddPartitionsToTxnTransaction(transactional_id, producer_id, producer_epoch, verify_only, topics), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.transactional_id)
        out += _pack_qho(self.producer_id, self.producer_epoch, self.verify_only)
        write_compact_array(out, self.topics, version)
        out.append(0)


@dataclass(slots=True)
class AddPartitionsToTxnRequest(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5

    v3_and_below_transactional_id: str = ""  # v0-3
    v3_and_below_producer_id: int = 0  # v0-3
    v3_and_below_producer_epoch: int = 0  # v0-3
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = field(default_factory=list)  # v0-3
    transactions: list[AddPartitionsToTxnTransaction] = field(default_factory=list)  # v4+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AddPartitionsToTxnRequest, int]":
        v3_and_below_transactional_id: str = ""
        if version <= 3:
            v3_and_below_transactional_id, at = (read_compact_string if version >= 3 else read_string)(data, at)
        v3_and_below_producer_id: int = 0
        if version <= 3:
            v3_and_below_producer_id = _read_q(data, at)[0]
            at += 8
        v3_and_below_producer_epoch: int = 0
        if version <= 3:
            v3_and_below_producer_epoch = _read_h(data, at)[0]
            at += 2
        v3_and_below_topics: list[AddPartitionsToTxnTopic] = []
        if version <= 3:
            v3_and_below_topics, at = (read_compact_array if version >= 3 else read_array)(
                data, at, version, AddPartitionsToTxnTopic.read, 3
            )
        transactions: list[AddPartitionsToTxnTransaction] = []
        if version >= 4:
            transactions, at = read_compact_array(data, at, version, AddPartitionsToTxnTransaction.read, 14)
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id,
            v3_and_below_producer_id,
            v3_and_below_producer_epoch,
            v3_and_below_topics,
            transactions,
        ), at

    def write(self, out: Output, version: int) -> None:
        if version <= 3:
            (write_compact_string if version >= 3 else write_string)(out, self.v3_and_below_transactional_id)
        if version <= 3:
            out += _pack_q(self.v3_and_below_producer_id)
        if version <= 3:
            out += _pack_h(self.v3_and_below_producer_epoch)
        if version <= 3:
            (write_compact_array if version >= 3 else write_array)(out, self.v3_and_below_topics, version)
        if version >= 4:
            write_compact_array(out, self.transactions, version)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class AddPartitionsToTxnPartitionResult:
    partition_index: int = 0
    partition_error_code: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AddPartitionsToTxnPartitionResult, int]":
        partition_index, partition_error_code = _read_ih(data, at)
        at += 6
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AddPartitionsToTxnPartitionResult(partition_index, partition_error_code), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ih(self.partition_index, self.partition_error_code)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class AddPartitionsToTxnTopicResult:
    name: str = ""
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AddPartitionsToTxnTopicResult, int]":
        name, at = (read_compact_string if version >= 3 else read_string)(data, at)
        results_by_partition, at = (read_compact_array if version >= 3 else read_array)(
            data, at, version, AddPartitionsToTxnPartitionResult.read, 6
        )
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AddPartitionsToTxnTopicResult(name, results_by_partition), at

    def write(self, out: Output, version: int) -> None:
        (write_compact_string if version >= 3 else write_string)(out, self.name)
        (write_compact_array if version >= 3 else write_array)(out, self.results_by_partition, version)
        if version >= 3:
            out.append(0)


@dataclass(slots=True)
class AddPartitionsToTxnResult:
    transactional_id: str = ""
    topic_results: list[AddPartitionsToTxnTopicResult] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AddPartitionsToTxnResult, int]":
        transactional_id, at = read_compact_string(data, at)
        topic_results, at = read_compact_array(data, at, version, AddPartitionsToTxnTopicResult.read, 3)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AddPartitionsToTxnResult(transactional_id, topic_results), at

    def write(self, out: Output, version: int) -> None:
        write_compact_string(out, self.transactional_id)
        write_compact_array(out, self.topic_results, version)
        out.append(0)


@dataclass(slots=True)
class AddPartitionsToTxnResponse(Message):
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5

    throttle_time_ms: int = 0
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = field(default_factory=list)  # v0-3
    error_code: int = 0  # v4+
    results_by_transaction: list[AddPartitionsToTxnResult] = field(default_factory=list)  # v4+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AddPartitionsToTxnResponse, int]":
        throttle_time_ms = _read_i(data, at)[0]
        at += 4
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = []
        if version <= 3:
            results_by_topic_v3_and_below, at = (read_compact_array if version >= 3 else read_array)(
                data, at, version, AddPartitionsToTxnTopicResult.read, 3
            )
        error_code: int = 0
        if version >= 4:
            error_code = _read_h(data, at)[0]
            at += 2
        results_by_transaction: list[AddPartitionsToTxnResult] = []
        if version >= 4:
            results_by_transaction, at = read_compact_array(data, at, version, AddPartitionsToTxnResult.read, 3)
        if version >= 3:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AddPartitionsToTxnResponse(
            throttle_time_ms, results_by_topic_v3_and_below, error_code, results_by_transaction
        ), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.throttle_time_ms)
        if version <= 3:
            (write_compact_array if version >= 3 else write_array)(out, self.results_by_topic_v3_and_below, version)
        if version >= 4:
            out += _pack_h(self.error_code)
        if version >= 4:
            write_compact_array(out, self.results_by_transaction, version)
        if version >= 3:
            out.append(0)
