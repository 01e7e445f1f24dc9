"""Fetch, API key 1, versions 4 to 18.

Written by scripts/generate_messages.py; do not edit.
"""

# ruff: noqa: ARG004

from collections.abc import Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar
from uuid import UUID

from fencepost.types import Buffer
from fencepost.wire.message import Message, Output
from fencepost.wire.reading import (
    ZERO_UUID,
    Data,
    check_tag_end,
    read_array,
    read_compact_array,
    read_compact_integers,
    read_compact_nullable_array,
    read_compact_nullable_record_pieces,
    read_compact_nullable_string,
    read_compact_string,
    read_integers,
    read_nullable_array,
    read_nullable_record_pieces,
    read_string,
    read_tag,
    read_tag_count,
    read_uuid,
    skip_tags,
)
from fencepost.wire.writing import (
    write_array,
    write_compact_array,
    write_compact_integers,
    write_compact_nullable_array,
    write_compact_nullable_record_pieces,
    write_compact_nullable_string,
    write_compact_string,
    write_integers,
    write_nullable_array,
    write_nullable_record_pieces,
    write_string,
    write_tags,
)

_read_i = Struct(">i").unpack_from
_pack_i = Struct(">i").pack
_read_ihi = Struct(">ihi").unpack_from
_pack_ihi = Struct(">ihi").pack
_read_ihqq = Struct(">ihqq").unpack_from
_pack_ihqq = Struct(">ihqq").pack
_read_ihqqq = Struct(">ihqqq").unpack_from
_pack_ihqqq = Struct(">ihqqq").pack
_read_ii = Struct(">ii").unpack_from
_pack_ii = Struct(">ii").pack
_read_iiib = Struct(">iiib").unpack_from
_pack_iiib = Struct(">iiib").pack
_read_iiibii = Struct(">iiibii").unpack_from
_pack_iiibii = Struct(">iiibii").pack
_read_iiqiqi = Struct(">iiqiqi").unpack_from
_pack_iiqiqi = Struct(">iiqiqi").pack
_read_iq = Struct(">iq").unpack_from
_pack_iq = Struct(">iq").pack
_read_q = Struct(">q").unpack_from
_pack_q = Struct(">q").pack
_read_qi = Struct(">qi").unpack_from
_pack_qi = Struct(">qi").pack
_read_qq = Struct(">qq").unpack_from
_pack_qq = Struct(">qq").pack


@dataclass(slots=True)
class ReplicaState:
    replica_id: int = -1
    replica_epoch: int = -1

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ReplicaState, int]":
        replica_id, replica_epoch = _read_iq(data, at)
        at += 12
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ReplicaState(replica_id, replica_epoch), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_iq(self.replica_id, self.replica_epoch)
        out.append(0)


@dataclass(slots=True)
class FetchPartition:
    partition: int = 0
    current_leader_epoch: int = -1  # v9+
    fetch_offset: int = 0
    last_fetched_epoch: int = -1  # v12+
    log_start_offset: int = -1  # v5+
    partition_max_bytes: int = 0
    replica_directory_id: UUID = ZERO_UUID  # v17+, tag 0
    high_watermark: int = 9223372036854775807  # v18+, tag 1

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[FetchPartition, int]":
        if version >= 12:
            partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes = (
                _read_iiqiqi(data, at)
            )
            at += 32
        else:
            partition = _read_i(data, at)[0]
            at += 4
            current_leader_epoch = -1
            if version >= 9:
                current_leader_epoch = _read_i(data, at)[0]
                at += 4
            fetch_offset = _read_q(data, at)[0]
            at += 8
            last_fetched_epoch = -1
            log_start_offset = -1
            if version >= 5:
                log_start_offset = _read_q(data, at)[0]
                at += 8
            partition_max_bytes = _read_i(data, at)[0]
            at += 4
        replica_directory_id: UUID = ZERO_UUID
        high_watermark: int = 9223372036854775807
        if version >= 12:
            if data[at] == 0:
                at += 1
            else:
                count, at = read_tag_count(data, at)
                for _ in range(count):
                    tag, at, end = read_tag(data, at)
                    if tag == 0 and version >= 17:
                        replica_directory_id, at = read_uuid(data, at)
                    elif tag == 1 and version >= 18:
                        high_watermark = _read_q(data, at)[0]
                        at += 8
                    else:
                        at = end
                    check_tag_end(tag, at, end)
        return FetchPartition(
            partition,
            current_leader_epoch,
            fetch_offset,
            last_fetched_epoch,
            log_start_offset,
            partition_max_bytes,
            replica_directory_id,
            high_watermark,
        ), at

    def write(self, out: Output, version: int) -> None:
        if version >= 12:
            out += _pack_iiqiqi(
                self.partition,
                self.current_leader_epoch,
                self.fetch_offset,
                self.last_fetched_epoch,
                self.log_start_offset,
                self.partition_max_bytes,
            )
        else:
            out += _pack_i(self.partition)
            if version >= 9:
                out += _pack_i(self.current_leader_epoch)
            out += _pack_q(self.fetch_offset)
            if version >= 5:
                out += _pack_q(self.log_start_offset)
            out += _pack_i(self.partition_max_bytes)
        if version >= 12:
            tags: list[tuple[int, Buffer]] = []
            if version >= 17 and self.replica_directory_id != ZERO_UUID:
                value = Output()
                value += self.replica_directory_id.bytes
                tags.append((0, value))
            if version >= 18 and self.high_watermark != 9223372036854775807:
                tags.append((1, _pack_q(self.high_watermark)))
            if tags:
                write_tags(out, tags)
            else:
                out.append(0)


@dataclass(slots=True)
class FetchTopic:
    topic: str = ""  # v4-12
    topic_id: UUID = ZERO_UUID  # v13+
    partitions: list[FetchPartition] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[FetchTopic, int]":
        topic: str = ""
        if version <= 12:
            topic, at = (read_compact_string if version >= 12 else read_string)(data, at)
        topic_id: UUID = ZERO_UUID
        if version >= 13:
            topic_id, at = read_uuid(data, at)
        partitions, at = (read_compact_array if version >= 12 else read_array)(
            data, at, version, FetchPartition.read, 16
        )
        if version >= 12:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return FetchTopic(topic, topic_id, partitions), at

    def write(self, out: Output, version: int) -> None:
        if version <= 12:
            (write_compact_string if version >= 12 else write_string)(out, self.topic)
        if version >= 13:
            out += self.topic_id.bytes
        (write_compact_array if version >= 12 else write_array)(out, self.partitions, version)
        if version >= 12:
            out.append(0)


@dataclass(slots=True)
class ForgottenTopic:
    topic: str = ""  # v7-12
    topic_id: UUID = ZERO_UUID  # v13+
    partitions: list[int] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[ForgottenTopic, int]":
        topic: str = ""
        if version <= 12:
            topic, at = (read_compact_string if version >= 12 else read_string)(data, at)
        topic_id: UUID = ZERO_UUID
        if version >= 13:
            topic_id, at = read_uuid(data, at)
        partitions, at = (read_compact_integers if version >= 12 else read_integers)(data, at, "i", 4)
        if version >= 12:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return ForgottenTopic(topic, topic_id, partitions), at

    def write(self, out: Output, version: int) -> None:
        if version <= 12:
            (write_compact_string if version >= 12 else write_string)(out, self.topic)
        if version >= 13:
            out += self.topic_id.bytes
        (write_compact_integers if version >= 12 else write_integers)(out, self.partitions, "i")
        if version >= 12:
            out.append(0)


@dataclass(slots=True)
class FetchRequest(Message):
    MIN_VERSION: ClassVar[int] = 4
    MAX_VERSION: ClassVar[int] = 18

    cluster_id: str | None = None  # v12+, tag 0
    replica_id: int = -1  # v4-14
    replica_state: ReplicaState | None = None  # v15+, tag 1
    max_wait_ms: int = 0
    min_bytes: int = 0
    max_bytes: int = 2147483647
    isolation_level: int = 0
    session_id: int = 0  # v7+
    session_epoch: int = -1  # v7+
    topics: list[FetchTopic] = field(default_factory=list)
    forgotten_topics_data: list[ForgottenTopic] = field(default_factory=list)  # v7+
    rack_id: str = ""  # v11+

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[FetchRequest, int]":
        replica_id: int = -1
        if version <= 14:
            replica_id = _read_i(data, at)[0]
            at += 4
        if version >= 7:
            max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = _read_iiibii(data, at)
            at += 21
        else:
            max_wait_ms, min_bytes, max_bytes, isolation_level = _read_iiib(data, at)
            at += 13
            session_id = 0
            session_epoch = -1
        topics, at = (read_compact_array if version >= 12 else read_array)(data, at, version, FetchTopic.read, 3)
        forgotten_topics_data: list[ForgottenTopic] = []
        if version >= 7:
            forgotten_topics_data, at = (read_compact_array if version >= 12 else read_array)(
                data, at, version, ForgottenTopic.read, 3
            )
        rack_id: str = ""
        if version >= 11:
            rack_id, at = (read_compact_string if version >= 12 else read_string)(data, at)
        cluster_id: str | None = None
        replica_state: ReplicaState | None = None
        if version >= 12:
            if data[at] == 0:
                at += 1
            else:
                count, at = read_tag_count(data, at)
                for _ in range(count):
                    tag, at, end = read_tag(data, at)
                    if tag == 0:
                        cluster_id, at = read_compact_nullable_string(data, at)
                    elif tag == 1 and version >= 15:
                        replica_state, at = ReplicaState.read(data, at, version)
                    else:
                        at = end
                    check_tag_end(tag, at, end)
        return FetchRequest(
            cluster_id,
            replica_id,
            replica_state,
            max_wait_ms,
            min_bytes,
            max_bytes,
            isolation_level,
            session_id,
            session_epoch,
            topics,
            forgotten_topics_data,
            rack_id,
        ), at

    def write(self, out: Output, version: int) -> None:
        if version <= 14:
            out += _pack_i(self.replica_id)
        if version >= 7:
            out += _pack_iiibii(
                self.max_wait_ms,
                self.min_bytes,
                self.max_bytes,
                self.isolation_level,
                self.session_id,
                self.session_epoch,
            )
        else:
            out += _pack_iiib(self.max_wait_ms, self.min_bytes, self.max_bytes, self.isolation_level)
        (write_compact_array if version >= 12 else write_array)(out, self.topics, version)
        if version >= 7:
            (write_compact_array if version >= 12 else write_array)(out, self.forgotten_topics_data, version)
        if version >= 11:
            (write_compact_string if version >= 12 else write_string)(out, self.rack_id)
        if version >= 12:
            tags: list[tuple[int, Buffer]] = []
            if self.cluster_id is not None:
                value = Output()
                write_compact_nullable_string(value, self.cluster_id)
                tags.append((0, value))
            if version >= 15 and self.replica_state is not None and self.replica_state != ReplicaState():
                value = Output()
                self.replica_state.write(value, version)
                tags.append((1, value))
            if tags:
                write_tags(out, tags)
            else:
                out.append(0)


@dataclass(slots=True)
class EpochEndOffset:
    epoch: int = -1
    end_offset: int = -1

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[EpochEndOffset, int]":
        epoch, end_offset = _read_iq(data, at)
        at += 12
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return EpochEndOffset(epoch, end_offset), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_iq(self.epoch, self.end_offset)
        out.append(0)


@dataclass(slots=True)
class LeaderIdAndEpoch:
    leader_id: int = -1
    leader_epoch: int = -1

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[LeaderIdAndEpoch, int]":
        leader_id, leader_epoch = _read_ii(data, at)
        at += 8
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return LeaderIdAndEpoch(leader_id, leader_epoch), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_ii(self.leader_id, self.leader_epoch)
        out.append(0)


@dataclass(slots=True)
class SnapshotId:
    end_offset: int = -1
    epoch: int = -1

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[SnapshotId, int]":
        end_offset, epoch = _read_qi(data, at)
        at += 12
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return SnapshotId(end_offset, epoch), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_qi(self.end_offset, self.epoch)
        out.append(0)


@dataclass(slots=True)
class AbortedTransaction:
    producer_id: int = 0
    first_offset: int = 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[AbortedTransaction, int]":
        producer_id, first_offset = _read_qq(data, at)
        at += 16
        if version >= 12:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return AbortedTransaction(producer_id, first_offset), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_qq(self.producer_id, self.first_offset)
        if version >= 12:
            out.append(0)


@dataclass(slots=True)
class PartitionData:
    partition_index: int = 0
    error_code: int = 0
    high_watermark: int = 0
    last_stable_offset: int = -1
    log_start_offset: int = -1  # v5+
    diverging_epoch: EpochEndOffset | None = None  # v12+, tag 0
    current_leader: LeaderIdAndEpoch | None = None  # v12+, tag 1
    snapshot_id: SnapshotId | None = None  # v12+, tag 2
    aborted_transactions: list[AbortedTransaction] | None = field(default_factory=list)
    preferred_read_replica: int = -1  # v11+
    records: Sequence[Buffer] | None = None

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[PartitionData, int]":
        if version >= 5:
            partition_index, error_code, high_watermark, last_stable_offset, log_start_offset = _read_ihqqq(data, at)
            at += 30
        else:
            partition_index, error_code, high_watermark, last_stable_offset = _read_ihqq(data, at)
            at += 22
            log_start_offset = -1
        aborted_transactions, at = (read_compact_nullable_array if version >= 12 else read_nullable_array)(
            data, at, version, AbortedTransaction.read, 16
        )
        preferred_read_replica: int = -1
        if version >= 11:
            preferred_read_replica = _read_i(data, at)[0]
            at += 4
        records, at = (read_compact_nullable_record_pieces if version >= 12 else read_nullable_record_pieces)(data, at)
        diverging_epoch: EpochEndOffset | None = None
        current_leader: LeaderIdAndEpoch | None = None
        snapshot_id: SnapshotId | None = None
        if version >= 12:
            if data[at] == 0:
                at += 1
            else:
                count, at = read_tag_count(data, at)
                for _ in range(count):
                    tag, at, end = read_tag(data, at)
                    if tag == 0:
                        diverging_epoch, at = EpochEndOffset.read(data, at, version)
                    elif tag == 1:
                        current_leader, at = LeaderIdAndEpoch.read(data, at, version)
                    elif tag == 2:
                        snapshot_id, at = SnapshotId.read(data, at, version)
                    else:
                        at = end
                    check_tag_end(tag, at, end)
        return PartitionData(
            partition_index,
            error_code,
            high_watermark,
            last_stable_offset,
            log_start_offset,
            diverging_epoch,
            current_leader,
            snapshot_id,
            aborted_transactions,
            preferred_read_replica,
            records,
        ), at

    def write(self, out: Output, version: int) -> None:
        if version >= 5:
            out += _pack_ihqqq(
                self.partition_index,
                self.error_code,
                self.high_watermark,
                self.last_stable_offset,
                self.log_start_offset,
            )
        else:
            out += _pack_ihqq(self.partition_index, self.error_code, self.high_watermark, self.last_stable_offset)
        (write_compact_nullable_array if version >= 12 else write_nullable_array)(
            out, self.aborted_transactions, version
        )
        if version >= 11:
            out += _pack_i(self.preferred_read_replica)
        (write_compact_nullable_record_pieces if version >= 12 else write_nullable_record_pieces)(out, self.records)
        if version >= 12:
            tags: list[tuple[int, Buffer]] = []
            if self.diverging_epoch is not None and self.diverging_epoch != EpochEndOffset():
                value = Output()
                self.diverging_epoch.write(value, version)
                tags.append((0, value))
            if self.current_leader is not None and self.current_leader != LeaderIdAndEpoch():
                value = Output()
                self.current_leader.write(value, version)
                tags.append((1, value))
            if self.snapshot_id is not None and self.snapshot_id != SnapshotId():
                value = Output()
                self.snapshot_id.write(value, version)
                tags.append((2, value))
            if tags:
                write_tags(out, tags)
            else:
                out.append(0)


@dataclass(slots=True)
class FetchableTopicResponse:
    topic: str = ""  # v4-12
    topic_id: UUID = ZERO_UUID  # v13+
    partitions: list[PartitionData] = field(default_factory=list)

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[FetchableTopicResponse, int]":
        topic: str = ""
        if version <= 12:
            topic, at = (read_compact_string if version >= 12 else read_string)(data, at)
        topic_id: UUID = ZERO_UUID
        if version >= 13:
            topic_id, at = read_uuid(data, at)
        partitions, at = (read_compact_array if version >= 12 else read_array)(
            data, at, version, PartitionData.read, 30
        )
        if version >= 12:
            at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return FetchableTopicResponse(topic, topic_id, partitions), at

    def write(self, out: Output, version: int) -> None:
        if version <= 12:
            (write_compact_string if version >= 12 else write_string)(out, self.topic)
        if version >= 13:
            out += self.topic_id.bytes
        (write_compact_array if version >= 12 else write_array)(out, self.partitions, version)
        if version >= 12:
            out.append(0)


@dataclass(slots=True)
class NodeEndpoint:
    node_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[NodeEndpoint, int]":
        node_id = _read_i(data, at)[0]
        at += 4
        host, at = read_compact_string(data, at)
        port = _read_i(data, at)[0]
        at += 4
        rack, at = read_compact_nullable_string(data, at)
        at = at + 1 if data[at] == 0 else skip_tags(data, at)
        return NodeEndpoint(node_id, host, port, rack), at

    def write(self, out: Output, version: int) -> None:
        out += _pack_i(self.node_id)
        write_compact_string(out, self.host)
        out += _pack_i(self.port)
        write_compact_nullable_string(out, self.rack)
        out.append(0)


@dataclass(slots=True)
class FetchResponse(Message):
    MIN_VERSION: ClassVar[int] = 4
    MAX_VERSION: ClassVar[int] = 18

    throttle_time_ms: int = 0
    error_code: int = 0  # v7+
    session_id: int = 0  # v7+
    responses: list[FetchableTopicResponse] = field(default_factory=list)
    node_endpoints: list[NodeEndpoint] = field(default_factory=list)  # v16+, tag 0

    @staticmethod
    def read(data: Data, at: int, version: int) -> "tuple[FetchResponse, int]":
        if version >= 7:
            throttle_time_ms, error_code, session_id = _read_ihi(data, at)
            at += 10
        else:
            throttle_time_ms = _read_i(data, at)[0]
            at += 4
            error_code = 0
            session_id = 0
        responses, at = (read_compact_array if version >= 12 else read_array)(
            data, at, version, FetchableTopicResponse.read, 3
        )
        node_endpoints: list[NodeEndpoint] = []
        if version >= 12:
            if data[at] == 0:
                at += 1
            else:
                count, at = read_tag_count(data, at)
                for _ in range(count):
                    tag, at, end = read_tag(data, at)
                    if tag == 0 and version >= 16:
                        node_endpoints, at = read_compact_array(data, at, version, NodeEndpoint.read, 11)
                    else:
                        at = end
                    check_tag_end(tag, at, end)
        return FetchResponse(throttle_time_ms, error_code, session_id, responses, node_endpoints), at

    def write(self, out: Output, version: int) -> None:
        if version >= 7:
            out += _pack_ihi(self.throttle_time_ms, self.error_code, self.session_id)
        else:
            out += _pack_i(self.throttle_time_ms)
        (write_compact_array if version >= 12 else write_array)(out, self.responses, version)
        if version >= 12:
            tags: list[tuple[int, Buffer]] = []
            if version >= 16 and self.node_endpoints:
                value = Output()
                write_compact_array(value, self.node_endpoints, version)
                tags.append((0, value))
            if tags:
                write_tags(out, tags)
            else:
                out.append(0)
