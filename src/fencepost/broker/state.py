"""Everything that a fold over the journal yields: catalogue, partitions, both coordinators.

`fold` takes one stored batch and is the whole of recovery; live appends go through it too. What it builds is what a
checkpoint holds. Batches of a deleted topic may still lie in the journal: their partition reference is unknown by
then and they are passed over.

A checkpoint is the whole state as bytes, so that a start need not replay what lies before: a sequence of sections, each
a tag, a number and a length; one for the catalogue, one for each partition, one for each coordinator. The rooms know
the bytes of their own state; here they are only put side by side.
"""

import json
import struct
from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import partial

from fencepost.broker import catalogue as catalogues
from fencepost.broker.catalogue import CATALOGUE_REF, OFFSETS_TOPIC, TRANSACTION_TOPIC, Catalogue, Topic, as_records
from fencepost.broker.partition_log import Follower, PartitionLog
from fencepost.errors import CorruptLog
from fencepost.groups import checkpoint as groups_checkpoint
from fencepost.groups.apply import apply_marker as apply_group_marker
from fencepost.groups.apply import apply_record as apply_group_record
from fencepost.groups.state import GroupsState
from fencepost.partition import checkpoint as partition_checkpoint
from fencepost.partition.apply import apply_aborted_data_cleaned, apply_batch, apply_log_start
from fencepost.records.control import ControlMarker, read_marker
from fencepost.records.header import CONTROL_FLAG, BatchHeader, read_header
from fencepost.records.reader import read_records
from fencepost.settings import BrokerSettings, topic_defaults
from fencepost.transactions import checkpoint as transactions_checkpoint
from fencepost.transactions.apply import replay as replay_transaction_record
from fencepost.transactions.log_records import decode_log_record
from fencepost.transactions.state import CoordinatorState
from fencepost.types import NO_PRODUCER_ID, Buffer, TopicPartition

CATALOGUE_LOG = TopicPartition("__fencepost_catalogue", 0)
LAYOUT = 1
_HEAD = struct.Struct("<I")
_SECTION = struct.Struct("<BIQ")


class Section(IntEnum):
    CATALOGUE = 1
    PARTITION = 2
    TRANSACTIONS = 3
    GROUPS = 4


class BrokerState:
    def __init__(self, settings: BrokerSettings, *, new_member_id: Callable[[str], str]) -> None:
        self.catalogue = Catalogue(defaults=topic_defaults(settings))
        self.transactions = CoordinatorState(settings)
        self.groups = GroupsState(settings, new_member_id)
        self.catalogue_log = PartitionLog(CATALOGUE_REF, CATALOGUE_LOG, follower=self._follow_catalogue)
        self.logs: dict[TopicPartition, PartitionLog] = {}
        self.logs_by_ref: dict[int, PartitionLog] = {CATALOGUE_REF: self.catalogue_log}

    def fold(self, partition_ref: int, batch: Buffer) -> None:
        """One batch that recovery reads back."""
        log = self.logs_by_ref.get(partition_ref)
        if log is not None:
            header = read_header(batch)
            marker = read_marker(batch) if header.attributes & CONTROL_FLAG else None
            apply_batch(log.state, header, marker)
            if log.follower is not None:
                log.follower(header, batch, marker)

    def _follow_catalogue(self, _header: BatchHeader, batch: Buffer, _marker: ControlMarker | None) -> None:
        for record in read_records(batch):
            self.apply_catalogue_record(catalogues.decode_record(record.value or b""))

    def apply_catalogue_record(self, record: catalogues.CatalogueRecord) -> None:
        deleted = self.catalogue.topics.get(record["name"]) if record["kind"] == "topic-deleted" else None
        catalogues.apply(self.catalogue, record)
        if deleted is not None:
            self._close_logs(deleted)
        elif record["kind"] in ("topic-created", "partitions-added"):
            self.open_logs(self.catalogue.topics[record["name"]])
        elif record["kind"] == "log-start-moved":
            for partition_ref, log_start_offset in record["starts"]:
                if (log := self.logs_by_ref.get(partition_ref)) is not None:
                    apply_log_start(log.state, log_start_offset)
        elif record["kind"] == "aborted-data-cleaned":
            for partition_ref, marker_offsets in record["markers"]:
                if (log := self.logs_by_ref.get(partition_ref)) is not None:
                    apply_aborted_data_cleaned(log.state, marker_offsets)

    def open_logs(self, topic: Topic) -> None:
        """Logs for the partitions of a topic that have none yet."""
        for partition, partition_ref in enumerate(topic.partition_refs):
            if partition_ref not in self.logs_by_ref:
                log = PartitionLog(partition_ref, TopicPartition(topic.name, partition))
                log.follower = self._follower_of(log.topic_partition)
                self.logs[log.topic_partition] = self.logs_by_ref[partition_ref] = log

    def _close_logs(self, topic: Topic) -> None:
        for partition, partition_ref in enumerate(topic.partition_refs):
            self.logs.pop(TopicPartition(topic.name, partition), None)
            self.logs_by_ref.pop(partition_ref, None)

    def _follower_of(self, topic_partition: TopicPartition) -> Follower | None:
        if topic_partition.topic == OFFSETS_TOPIC:
            return partial(self._follow_offsets, topic_partition.partition)
        return self._follow_transactions if topic_partition.topic == TRANSACTION_TOPIC else None

    def _follow_offsets(
        self, offsets_partition: int, header: BatchHeader, batch: Buffer, marker: ControlMarker | None
    ) -> None:
        if marker is not None:
            apply_group_marker(
                self.groups,
                offsets_partition=offsets_partition,
                producer_id=header.producer_id,
                is_commit=marker.is_commit,
            )
        elif not header.is_control:
            for record in read_records(batch):
                apply_group_record(
                    self.groups,
                    record.key or b"",
                    record.value,
                    offsets_partition=offsets_partition,
                    record_offset=record.offset,
                    producer_id=header.producer_id if header.is_transactional else NO_PRODUCER_ID,
                )

    def _follow_transactions(self, header: BatchHeader, batch: Buffer, _marker: ControlMarker | None) -> None:
        if header.is_control:
            return
        for record in read_records(batch):
            if (stored := decode_log_record(record)) is not None:
                replay_transaction_record(self.transactions, stored)


def dump_checkpoint(state: BrokerState) -> bytes:
    catalogue = json.dumps(as_records(state.catalogue), separators=(",", ":")).encode()
    sections = [(Section.CATALOGUE, 0, catalogue)]
    for partition_ref, log in state.logs_by_ref.items():
        sections.append((Section.PARTITION, partition_ref, partition_checkpoint.dump_state(log.state)))
    sections.append((Section.TRANSACTIONS, 0, transactions_checkpoint.dump_state(state.transactions)))
    sections.append((Section.GROUPS, 0, groups_checkpoint.dump_state(state.groups)))
    pieces = [_HEAD.pack(LAYOUT)]
    for section, number, body in sections:
        pieces += (_SECTION.pack(section, number, len(body)), body)
    return b"".join(pieces)


def load_checkpoint(state: BrokerState, dump: Buffer) -> None:
    for section, number, body in _sections(dump):
        if section == Section.CATALOGUE:
            for record in json.loads(bytes(body)):
                state.apply_catalogue_record(record)
        elif section == Section.PARTITION:
            state.logs_by_ref[number].state = partition_checkpoint.load_state(body)
        elif section == Section.TRANSACTIONS:
            state.transactions = transactions_checkpoint.load_state(body, state.transactions.settings)
        elif section == Section.GROUPS:
            groups_checkpoint.load_state(state.groups, bytes(body))
        else:
            raise CorruptLog(f"a state checkpoint has a section {section}, which this version does not know")


def _sections(dump: Buffer) -> Iterator[tuple[int, int, memoryview]]:
    view = memoryview(dump)
    if len(view) < _HEAD.size or _HEAD.unpack_from(view)[0] != LAYOUT:
        raise CorruptLog(f"a state checkpoint does not have layout {LAYOUT}: it comes from another version")
    at = _HEAD.size
    while at < len(view):
        section, number, size_bytes = _SECTION.unpack_from(view, at)
        at += _SECTION.size
        yield section, number, view[at : at + size_bytes]
        at += size_bytes
