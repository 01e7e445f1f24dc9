"""`fencepost log dump`: a partition as Kafka's DumpLogSegments prints it, and what else a data folder holds."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

from fencepost.broker.catalogue import OFFSETS_TOPIC, TRANSACTION_TOPIC
from fencepost.cli.data_folder import DataFolder, StoredBatch, data_option
from fencepost.cli.log_decoded import offsets_rows, transaction_state_rows
from fencepost.cli.log_lines import Fields, aborted_rows, as_line, batch_fields, record_rows
from fencepost.cli.output import json_line, json_option, print_json, print_table
from fencepost.cli.places import TopicPartitionType
from fencepost.journal.dump import dump_frames
from fencepost.journal.frames import FrameKind
from fencepost.partition.visibility import last_stable_offset
from fencepost.types import TopicPartition

NOTHING_WRITTEN = "nothing was written here"
"""The rest of a segment that has room; a frame that tells so is no damage."""

Rows = Callable[[TopicPartition, StoredBatch], Iterator[Fields]]


@click.command("dump")
@click.argument("where", required=False, type=TopicPartitionType(), metavar="[TOPIC-PARTITION]")
@data_option
@click.option("--records", is_flag=True, help="Every record too, with key and value.")
@click.option("--txnindex", is_flag=True, help="The aborted transactions of the partition.")
@click.option("--transaction-state", is_flag=True, help="__transaction_state, decoded.")
@click.option("--offsets", is_flag=True, help="__consumer_offsets, decoded.")
@click.option("--journal", is_flag=True, help="The journal itself: every frame of every segment.")
@json_option
def command(
    where: TopicPartition | None,
    folder: Path,
    records: bool,
    txnindex: bool,
    transaction_state: bool,
    offsets: bool,
    journal: bool,
    as_json: bool,
) -> None:
    """Print a partition out of a data folder: a line for each batch, and what a marker says below it.

    The lines are those of Kafka's own dump tool (kafka-dump-log). Without an argument: the partitions that the folder
    holds. Nothing is changed; a broker may be working in the folder.

    \b
    Examples:
      fencepost log dump --data ./data
      fencepost log dump purchases-0 --data ./data
      fencepost log dump purchases-0 --data ./data --records --json
      fencepost log dump purchases-0 --data ./data --txnindex
      fencepost log dump --data ./data --transaction-state
      fencepost log dump --data ./data --offsets
      fencepost log dump --data ./data --journal
    """
    data = DataFolder(folder)
    if journal:
        print_rows(journal_rows(data), as_json=as_json)
    elif transaction_state:
        print_rows(decoded(data, TRANSACTION_TOPIC, where, transaction_state_rows), as_json=as_json)
    elif offsets:
        print_rows(decoded(data, OFFSETS_TOPIC, where, offsets_rows), as_json=as_json)
    elif where is None:
        print_partitions(data, as_json=as_json)
    elif txnindex:
        print_rows(aborted_rows(data.log(where).state.aborted), as_json=as_json)
    else:
        if not as_json:
            click.echo(f"Dumping {where} of {folder}\nLog starting offset: {data.log(where).state.log_start_offset}")
        print_rows(partition_rows(data, where, has_records=records), as_json=as_json)


def partition_rows(data: DataFolder, where: TopicPartition, *, has_records: bool) -> Iterator[Fields]:
    """The batches, and below each its records if they are asked for; a marker is always shown."""
    position = 0
    for stored in data.batches(where):
        yield batch_fields(stored.header, stored.batch, position=position)
        if has_records or stored.header.is_control:
            yield from record_rows(stored.header, stored.batch)
        position += stored.header.size_bytes


def journal_rows(data: DataFolder) -> Iterator[Fields]:
    names = {log.partition_ref: str(log.topic_partition) for log in data.state.logs_by_ref.values()}
    for each in dump_frames(data.disk):
        frame = each.frame
        if frame.fault == NOTHING_WRITTEN:
            continue
        row: Fields = {
            "segment": each.segment.first_position,
            "place": frame.place,
            "position": frame.position,
            "kind": each.kind,
            "partition": names.get(frame.partition_ref, "-") if frame.kind == FrameKind.BATCH else "-",
            "bytes": len(frame.payload),
        }
        yield {**row, "fault": frame.fault} if frame.fault else row


def decoded(data: DataFolder, topic: str, where: TopicPartition | None, rows: Rows) -> Iterator[Fields]:
    if where is not None and where.topic != topic:
        raise click.UsageError(f"{where} is not a partition of {topic}")
    for each in [where] if where is not None else data.partitions_of(topic):
        for stored in data.batches(each):
            yield from rows(each, stored)


def print_rows(rows: Iterable[Fields], *, as_json: bool) -> None:
    for row in rows:
        click.echo(json_line(row) if as_json else as_line(row))


def print_partitions(data: DataFolder, *, as_json: bool) -> None:
    """Those with something in them."""
    rows = [
        (str(where), log.state.log_start_offset, last_stable_offset(log.state), log.state.end_offset)
        for where, log in sorted(data.state.logs.items())
        if log.state.end_offset
    ]
    if as_json:
        names = ("partition", "start_offset", "last_stable_offset", "end_offset")
        print_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    print_table(["PARTITION", "START", "STABLE", "END"], rows, empty="No partition has anything in it.")
