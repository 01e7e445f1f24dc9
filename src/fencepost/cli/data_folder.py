"""A data folder of our broker, read without a broker: its partitions, their state, their batches in order.

Nothing is changed, locked or recovered, so a folder can be looked at while a broker works in it; the last entries may
then be missing. State comes from the newest checkpoint and all entries after it, as at a start.
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import click

from fencepost.broker.checkpoint import load_checkpoint
from fencepost.broker.partition_log import PartitionLog
from fencepost.broker.state import BrokerState
from fencepost.cli.failures import Failure
from fencepost.journal.dump import DumpedFrame, dump_frames
from fencepost.journal.frames import FrameKind
from fencepost.partition.apply import apply_synced
from fencepost.records.header import BatchHeader, read_header
from fencepost.server.file_disk import FileDisk
from fencepost.settings import BrokerSettings
from fencepost.types import TopicPartition

data_option = click.option(
    "--data",
    "folder",
    default="fencepost-data",
    show_default=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The broker's data folder.",
)


class StoredBatch(NamedTuple):
    position: int
    """Of its entry in the journal."""
    header: BatchHeader
    batch: memoryview


class DataFolder:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.disk = FileDisk(folder)
        if not any(name.endswith(".journal") for name in self.disk.list_names()):
            raise Failure(f"{folder} is no data folder of a broker: it has no journal. --data names another one.")

    @cached_property
    def state(self) -> BrokerState:
        state = BrokerState(BrokerSettings(), new_member_id=str)
        newest = max((each.frame.position for each in self._good_frames(FrameKind.CHECKPOINT)), default=0)
        for each in dump_frames(self.disk):
            frame = each.frame
            if frame.fault or frame.position < newest:
                continue
            if frame.kind == FrameKind.CHECKPOINT and frame.position == newest:
                load_checkpoint(state, frame.payload)
            elif frame.kind == FrameKind.BATCH:
                state.fold(frame.partition_ref, bytes(frame.payload))
        for log in state.logs_by_ref.values():
            apply_synced(log.state, log.state.end_offset)
        return state

    def log(self, where: TopicPartition) -> PartitionLog:
        log = self.state.logs.get(where)
        if log is None:
            topic = self.state.catalogue.topics.get(where.topic)
            there = f"{where.topic} has {len(topic.partition_refs)} partitions" if topic else "no such topic is in it"
            raise Failure(f"{where} is not in {self.folder}: {there}. `fencepost log dump` lists what is.")
        return log

    def batches(self, where: TopicPartition) -> Iterator[StoredBatch]:
        """Those that are still part of the log, in order."""
        log = self.log(where)
        for each in self._good_frames(FrameKind.BATCH):
            if each.frame.partition_ref == log.partition_ref:
                header = read_header(each.frame.payload)
                if header.last_offset >= log.state.log_start_offset:
                    yield StoredBatch(each.frame.position, header, each.frame.payload)

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        return sorted(where for where in self.state.logs if where.topic == topic)

    def _good_frames(self, kind: FrameKind) -> Iterator[DumpedFrame]:
        for each in dump_frames(self.disk):
            if not each.frame.fault and each.frame.kind == kind:
                yield each
