"""`fencepost log export`: partitions as Kafka keeps them, segment files and aborted-transaction indexes.

`TOPIC-PARTITION/<first offset>.log` holds the batches exactly as they were stored; `.txnindex` beside it the aborted
transactions whose markers lie in that segment, 34 bytes each.
"""

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from fencepost.cli.data_folder import DataFolder, StoredBatch, data_option
from fencepost.cli.failures import Failure
from fencepost.cli.output import json_option, print_json, print_table
from fencepost.cli.places import TopicPartitionType
from fencepost.partition.aborted_index import AbortedIndex
from fencepost.types import OffsetRange, TopicPartition

ABORTED_VERSION = 0
_ABORTED = struct.Struct(">hqqqq")
SEGMENT_BYTES = 1 << 30


@click.command("export")
@click.argument("partitions", nargs=-1, type=TopicPartitionType(), metavar="TOPIC-PARTITION...")
@data_option
@click.option(
    "--to", "target", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to write to."
)
@click.option("--all", "takes_all", is_flag=True, help="All partitions that have something in them.")
@click.option("--segment-bytes", type=click.IntRange(min=1024, max=2**31 - 1), default=SEGMENT_BYTES, show_default=True)
@json_option
def command(
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
        chosen = tuple(sorted(where for where, log in data.state.logs.items() if log.state.end_offset))
    if not chosen:
        raise click.UsageError("say which: TOPIC-PARTITION..., or --all")
    written = [row for where in chosen for row in export(data, where, target, segment_bytes=segment_bytes)]
    if as_json:
        print_json([{"file": str(path), "bytes": size} for path, size in written])
        return
    print_table(["FILE", "BYTES"], [(str(path), size) for path, size in written], empty="Nothing to write.")


def export(data: DataFolder, where: TopicPartition, target: Path, *, segment_bytes: int) -> Iterator[tuple[Path, int]]:
    """The files that were written, with their sizes. A folder that is there already is left alone."""
    log = data.log(where)
    folder = target / str(where)
    if folder.exists():
        raise Failure(f"{folder} is there already: take it away, or choose another folder with --to")
    folder.mkdir(parents=True)
    segments = list(write_segments(folder, data.batches(where), segment_bytes=segment_bytes))
    starts = [first_offset for first_offset, _ in segments]
    for number, (first_offset, path) in enumerate(segments):
        yield path, path.stat().st_size
        end_offset = starts[number + 1] if number + 1 < len(starts) else log.state.end_offset
        index = path.with_suffix(".txnindex")
        index.write_bytes(b"".join(aborted_entries(log.state.aborted, OffsetRange(first_offset, end_offset))))
        yield index, index.stat().st_size


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
