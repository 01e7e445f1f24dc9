"""`fencepost log`: a data folder of our broker, read without a broker.

Nothing is changed, locked or recovered, so a folder can be looked at while a broker works in it; the last entries may
then be missing. State comes from the newest checkpoint and all entries after it, as at a start.
"""

import struct
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import click

from fencepost.broker.partition_log import PartitionLog
from fencepost.broker.state import BrokerState, load_checkpoint
from fencepost.cli.arguments import TOPIC_PARTITION
from fencepost.cli.failures import FOUND, Failure
from fencepost.cli.main import LazyGroup
from fencepost.cli.output import json_option, print_json, print_rows
from fencepost.journal.dump import DumpedFrame, dump_frames, verify_folder
from fencepost.journal.frames import FrameKind
from fencepost.partition.apply import apply_synced
from fencepost.partition.partition import AbortedIndex
from fencepost.records.header import BatchHeader, read_header
from fencepost.server.file_disk import FileDisk
from fencepost.settings import BrokerSettings
from fencepost.types import OffsetRange, TopicPartition

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

    def log(self, topic_partition: TopicPartition) -> PartitionLog:
        log = self.state.logs.get(topic_partition)
        if log is None:
            name = topic_partition.topic
            topic = self.state.catalogue.topics.get(name)
            there = f"{name} has {len(topic.partition_refs)} partitions" if topic else "no such topic is in it"
            raise Failure(f"{topic_partition} is not in {self.folder}: {there}. `fencepost log dump` lists what is.")
        return log

    def batches(self, topic_partition: TopicPartition) -> Iterator[StoredBatch]:
        """Those that are still part of the log, in order."""
        log = self.log(topic_partition)
        for each in self._good_frames(FrameKind.BATCH):
            if each.frame.partition_ref == log.partition_ref:
                header = read_header(each.frame.payload)
                if header.last_offset >= log.state.log_start_offset:
                    yield StoredBatch(each.frame.position, header, each.frame.payload)

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        return sorted(each for each in self.state.logs if each.topic == topic)

    def _good_frames(self, kind: FrameKind) -> Iterator[DumpedFrame]:
        for each in dump_frames(self.disk):
            if not each.frame.fault and each.frame.kind == kind:
                yield each


COMMANDS = {
    "dump": ("fencepost.cli.log_dump", "Print batches, records, indexes, internal topics."),
    "export": ("fencepost.cli.log:export_command", "Write Kafka's segment and index files."),
    "verify": ("fencepost.cli.log:verify", "Check every checksum of the journal."),
}


@click.group("log", cls=LazyGroup, commands=COMMANDS)
def command() -> None:
    """Look into a data folder without a broker. Nothing is changed; a broker may be working in it."""


@click.command("verify")
@data_option
@json_option
@click.pass_context
def verify(ctx: click.Context, folder: Path, as_json: bool) -> None:
    """Check every frame of the journal and every index; exits with 4 if something is damaged.

    \b
    Examples:
      fencepost log verify --data ./data
      fencepost log verify --data ./data --json
    """
    faults = verify_folder(DataFolder(folder).disk)
    if as_json:
        print_json({"faults": faults})
    else:
        click.echo("\n".join(faults) or f"{folder}: every checksum is right")
    if faults:
        ctx.exit(FOUND)


# `fencepost log export`: partitions as Kafka keeps them, segment files and aborted-transaction indexes.
#
# `TOPIC-PARTITION/<first offset>.log` holds the batches exactly as they were stored; `.txnindex` beside it the aborted
# transactions whose markers lie in that segment, 34 bytes each.


ABORTED_VERSION = 0
_ABORTED = struct.Struct(">hqqqq")
SEGMENT_BYTES = 1 << 30


@click.command("export")
@click.argument("partitions", nargs=-1, type=TOPIC_PARTITION, metavar="TOPIC-PARTITION...")
@data_option
@click.option(
    "--to", "target", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to write to."
)
@click.option("--all", "takes_all", is_flag=True, help="All partitions that have something in them.")
@click.option("--segment-bytes", type=click.IntRange(min=1024, max=2**31 - 1), default=SEGMENT_BYTES, show_default=True)
@json_option
def export_command(
    partitions: tuple[TopicPartition, ...],
    folder: Path,
    target: Path,
    takes_all: bool,
    segment_bytes: int,
    as_json: bool,
) -> None:
    """Write partitions as files that Kafka's own tools read: .log segments and .txnindex files.

    \b
    Examples:
      fencepost log export purchases-0 --data ./data --to ./exported
      fencepost log export --all --data ./data --to ./all-exported --json
    """
    data = DataFolder(folder)
    chosen = partitions
    if takes_all:
        chosen = tuple(sorted(each for each, log in data.state.logs.items() if log.state.end_offset))
    if not chosen:
        raise click.UsageError("say which: TOPIC-PARTITION..., or --all")
    files = [path for each in chosen for path in export(data, each, target, segment_bytes=segment_bytes)]
    rows = [{"file": str(path), "bytes": path.stat().st_size} for path in files]
    print_rows({"FILE": "file", "BYTES": "bytes"}, rows, as_json=as_json, empty="Nothing to write.")


def export(data: DataFolder, topic_partition: TopicPartition, target: Path, *, segment_bytes: int) -> Iterator[Path]:
    """The files that were written. A folder that is there already is left alone."""
    log = data.log(topic_partition)
    folder = target / str(topic_partition)
    if folder.exists():
        raise Failure(f"{folder} is there already: take it away, or choose another folder with --to")
    folder.mkdir(parents=True)
    segments = list(write_segments(folder, data.batches(topic_partition), segment_bytes=segment_bytes))
    ends = [first_offset for first_offset, _ in segments[1:]] + [log.state.end_offset]
    for (first_offset, path), end_offset in zip(segments, ends, strict=False):
        index = path.with_suffix(".txnindex")
        index.write_bytes(b"".join(aborted_entries(log.state.aborted, OffsetRange(first_offset, end_offset))))
        yield from (path, index)


def write_segments(folder: Path, batches: Iterable[StoredBatch], *, segment_bytes: int) -> Iterator[tuple[int, Path]]:
    """The first offset and the path of each, once it is written."""
    waiting = iter(batches)
    stored = next(waiting, None)
    while stored is not None:
        first_offset, size_bytes = stored.header.base_offset, 0
        path = folder / f"{first_offset:020d}.log"
        with path.open("wb") as file:
            while stored is not None and (size_bytes == 0 or size_bytes + len(stored.batch) <= segment_bytes):
                file.write(stored.batch)
                size_bytes += len(stored.batch)
                stored = next(waiting, None)
        yield first_offset, path


def aborted_entries(aborted: AbortedIndex, markers: OffsetRange) -> Iterator[bytes]:
    for producer_id, first_offset, last_offset, stable in zip(*aborted.columns(), strict=True):
        if last_offset in markers:
            yield _ABORTED.pack(ABORTED_VERSION, producer_id, first_offset, last_offset, stable)
