"""`fencepost log dump`: a partition as Kafka's DumpLogSegments prints it, and what else a data folder holds.

Each line is a table of fields first, which is what `--json` prints. `position` is where a batch lies in the file that
`log export` would write: one batch after the other.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

from fencepost.broker.catalogue import OFFSETS_TOPIC, TRANSACTION_TOPIC
from fencepost.cli.arguments import TOPIC_PARTITION
from fencepost.cli.log import DataFolder, StoredBatch, data_option
from fencepost.cli.output import json_line, json_option, print_rows
from fencepost.cli.record_text import as_fields
from fencepost.errors import CorruptLog, WireError
from fencepost.groups.records import GROUP_METADATA_KEY, OFFSET_COMMIT_KEYS, read_offset
from fencepost.journal.dump import dump_frames
from fencepost.journal.frames import FrameKind
from fencepost.partition.partition import AbortedIndex
from fencepost.partition.visibility import last_stable_offset
from fencepost.records.compression import Compression
from fencepost.records.control import read_marker
from fencepost.records.header import BatchHeader, TimestampType, check_crc
from fencepost.records.reader import read_records
from fencepost.records.record import Record, increment_sequence
from fencepost.transactions.log_records import ProducerIdsRecord, decode_log_record
from fencepost.types import NO_SEQUENCE, Buffer, TopicPartition
from fencepost.wire.message import record_version
from fencepost.wire.messages.group_metadata_record import GroupMetadataKey, GroupMetadataValue
from fencepost.wire.messages.offset_commit_record import OffsetCommitKey

Fields = dict[str, object]

TIMESTAMP_NAMES = {TimestampType.CREATE_TIME: "CreateTime", TimestampType.LOG_APPEND_TIME: "LogAppendTime"}


def batch_fields(header: BatchHeader, batch: Buffer, *, position: int) -> Fields:
    return {
        "baseOffset": header.base_offset,
        "lastOffset": header.last_offset,
        "count": header.record_count,
        "baseSequence": header.base_sequence,
        "lastSequence": header.last_sequence,
        "producerId": header.producer_id,
        "producerEpoch": header.producer_epoch,
        "partitionLeaderEpoch": header.leader_epoch,
        "isTransactional": header.is_transactional,
        "isControl": header.is_control,
        "deleteHorizonMs": header.delete_horizon_ms,
        "position": position,
        TIMESTAMP_NAMES[header.timestamp_type]: header.max_timestamp,
        "size": header.size_bytes,
        "magic": header.magic,
        "compresscodec": Compression(header.compression).name.lower(),
        "crc": header.crc,
        "isvalid": check_crc(batch),
    }


def record_rows(header: BatchHeader, batch: Buffer) -> Iterator[Fields]:
    for record in read_records(batch):
        fields = _record_fields(header, record)
        if not header.is_control:
            yield {**fields, **as_fields("key", record.key), **as_fields("payload", record.value)}
            continue
        marker = read_marker(batch)
        if marker is not None:
            kind = "COMMIT" if marker.is_commit else "ABORT"
            fields |= {"endTxnMarker": kind, "coordinatorEpoch": marker.coordinator_epoch}
        yield fields


def aborted_rows(aborted: AbortedIndex) -> Iterator[Fields]:
    names = ("producerId", "firstOffset", "lastOffset", "lastStableOffset")
    for row in zip(*aborted.columns(), strict=True):
        yield {"version": 0, **dict(zip(names, row, strict=True))}


def as_line(fields: Fields) -> str:
    """The line of Kafka's tool; a record's begins with a bar."""
    bar = "| " if "keySize" in fields else ""
    shown = {name: value for name, value in fields.items() if value is not None or name not in ("key", "payload")}
    return bar + " ".join(f"{name.removesuffix('_base64')}: {_text(name, value)}" for name, value in shown.items())


def _record_fields(header: BatchHeader, record: Record) -> Fields:
    sequence = NO_SEQUENCE
    if header.base_sequence != NO_SEQUENCE:
        sequence = increment_sequence(header.base_sequence, record.offset - header.base_offset)
    return {
        "offset": record.offset,
        TIMESTAMP_NAMES[header.timestamp_type]: record.timestamp_ms,
        "keySize": -1 if record.key is None else len(record.key),
        "valueSize": -1 if record.value is None else len(record.value),
        "sequence": sequence,
        "headerKeys": [name for name, _ in record.headers],
    }


def _text(name: str, value: object) -> str:
    if name == "deleteHorizonMs":
        return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"[{','.join(map(str, value))}]" if isinstance(value, list) else str(value)


# The two internal topics, decoded: states of transactional ids, and committed offsets with the groups behind them.


def transaction_state_rows(stored: StoredBatch) -> Iterator[Fields]:
    for record in read_records(stored.batch):
        yield {"offset": record.offset, "time": record.timestamp_ms, **_transaction(record)}


def _transaction(record: Record) -> Fields:
    try:
        decoded = decode_log_record(record)
    except CorruptLog as problem:
        return {"unreadable": str(problem)}
    if decoded is None:
        return {"unknown": "a record of a newer version"}
    if isinstance(decoded, ProducerIdsRecord):
        return {"nextProducerId": decoded.next_producer_id}
    transaction = decoded.transaction
    if transaction is None:
        return {"transactionalId": decoded.transactional_id, "state": "tombstone"}
    fields: Fields = {
        "transactionalId": decoded.transactional_id,
        "state": transaction.state.kafka_name,
        "producerId": transaction.producer_id,
        "producerEpoch": transaction.producer_epoch,
        "timeoutMs": transaction.timeout_ms,
        "startMs": transaction.start_timestamp_ms,
        "partitions": [*map(str, transaction.ordered_partitions)],
    }
    if decoded.cause is not None:
        fields["cause"] = f"{decoded.cause.request} by {decoded.cause.client_id} at {decoded.cause.address}"
    return fields


def offsets_rows(stored: StoredBatch) -> Iterator[Fields]:
    header = stored.header
    if header.is_control:
        marker = read_marker(stored.batch)
        kind = "other" if marker is None else "COMMIT" if marker.is_commit else "ABORT"
        yield {
            "offset": header.base_offset,
            "time": header.max_timestamp,
            "endTxnMarker": kind,
            "producerId": header.producer_id,
            "producerEpoch": header.producer_epoch,
        }
        return
    for record in read_records(stored.batch):
        fields = {"offset": record.offset, "time": record.timestamp_ms, **_group_record(record)}
        yield {**fields, "pendingOf": header.producer_id} if header.is_transactional else fields


def _group_record(record: Record) -> Fields:
    if record.key is None:
        return {"unreadable": "a record without a key"}
    try:
        version = record_version(record.key)
        if version in OFFSET_COMMIT_KEYS:
            key = OffsetCommitKey.from_bytes(record.key)
            named: Fields = {"group": key.group, "of": f"{key.topic}-{key.partition}"}
            if record.value is None:
                return {**named, "committed": "tombstone"}
            offset = read_offset(record.value, record_offset=record.offset)
            return {**named, "committed": offset.committed_offset, "metadata": offset.metadata}
        if version == GROUP_METADATA_KEY:
            group = GroupMetadataKey.from_bytes(record.key).group
            if record.value is None:
                return {"group": group, "metadata": "tombstone"}
            metadata = GroupMetadataValue.from_bytes(record.value)
            members = [member.client_id for member in metadata.members]
            return {"group": group, "generation": metadata.generation, "members": members}
    except WireError as problem:
        return {"unreadable": str(problem)}
    return {"groupRecord": version, "bytes": len(record.value or b"")}


NOTHING_WRITTEN = "nothing was written here"
"""The rest of a segment that has room; a frame with this fault is no damage."""

Rows = Callable[[StoredBatch], Iterator[Fields]]


@click.command("dump")
@click.argument("topic_partition", required=False, type=TOPIC_PARTITION, metavar="[TOPIC-PARTITION]")
@data_option
@click.option("--records", is_flag=True, help="Every record too, with key and value.")
@click.option("--txnindex", is_flag=True, help="The aborted transactions of the partition.")
@click.option("--transaction-state", is_flag=True, help="__transaction_state, decoded.")
@click.option("--offsets", is_flag=True, help="__consumer_offsets, decoded.")
@click.option("--journal", is_flag=True, help="The journal itself: every frame of every segment.")
@json_option
def command(
    topic_partition: TopicPartition | None,
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
        print_lines(journal_rows(data), as_json=as_json)
    elif transaction_state:
        print_lines(decoded(data, TRANSACTION_TOPIC, topic_partition, transaction_state_rows), as_json=as_json)
    elif offsets:
        print_lines(decoded(data, OFFSETS_TOPIC, topic_partition, offsets_rows), as_json=as_json)
    elif topic_partition is None:
        print_partitions(data, as_json=as_json)
    elif txnindex:
        print_lines(aborted_rows(data.log(topic_partition).state.aborted), as_json=as_json)
    else:
        if not as_json:
            start_offset = data.log(topic_partition).state.log_start_offset
            click.echo(f"Dumping {topic_partition} of {folder}\nLog starting offset: {start_offset}")
        print_lines(partition_rows(data, topic_partition, has_records=records), as_json=as_json)


def partition_rows(data: DataFolder, topic_partition: TopicPartition, *, has_records: bool) -> Iterator[Fields]:
    """The batches, and below each its records if they are asked for; a marker is always shown."""
    position = 0
    for stored in data.batches(topic_partition):
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


def decoded(data: DataFolder, topic: str, chosen: TopicPartition | None, rows: Rows) -> Iterator[Fields]:
    if chosen is not None and chosen.topic != topic:
        raise click.UsageError(f"{chosen} is not a partition of {topic}")
    for each in [chosen] if chosen is not None else data.partitions_of(topic):
        for stored in data.batches(each):
            yield from ({"partition": str(each), **row} for row in rows(stored))


def print_lines(rows: Iterable[Fields], *, as_json: bool) -> None:
    for row in rows:
        click.echo(json_line(row) if as_json else as_line(row))


def print_partitions(data: DataFolder, *, as_json: bool) -> None:
    """Those with something in them."""
    rows = [
        {
            "partition": str(each),
            "start_offset": log.state.log_start_offset,
            "last_stable_offset": last_stable_offset(log.state),
            "end_offset": log.state.end_offset,
        }
        for each, log in sorted(data.state.logs.items())
        if log.state.end_offset
    ]
    columns = {"PARTITION": "partition", "START": "start_offset", "STABLE": "last_stable_offset", "END": "end_offset"}
    print_rows(columns, rows, as_json=as_json, empty="No partition has anything in it.")
