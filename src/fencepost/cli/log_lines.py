"""The lines that Kafka's DumpLogSegments prints, for batches, records, markers and the aborted index.

Each is a table of fields first, which is what `--json` prints. `position` is where a batch lies in the file that
`log export` would write: one batch after the other.
"""

from collections.abc import Iterator

from fencepost.cli.record_text import as_fields
from fencepost.partition.aborted_index import AbortedIndex
from fencepost.records.compression import Compression
from fencepost.records.control import read_marker
from fencepost.records.header import BatchHeader, TimestampType, check_crc
from fencepost.records.reader import read_records
from fencepost.records.record import Record
from fencepost.records.sequence import increment_sequence
from fencepost.types import NO_SEQUENCE, Buffer

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
