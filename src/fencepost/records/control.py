"""Control batches that end a transaction on a partition: one record, 78 bytes, commit or abort.

Readers take what they know: a key or value of a higher version is read as far as this one goes, another kind of control
record means nothing here, and a batch whose record was cleaned away says nothing. A negative version is corruption.
"""

import struct
from typing import NamedTuple

from fencepost.errors import invariant
from fencepost.records.builder import build_batch
from fencepost.records.header import read_header
from fencepost.records.reader import read_records
from fencepost.records.record import InvalidRecordBatch, Record
from fencepost.types import Buffer

_VERSION = 0
_ABORT = 0
_COMMIT = 1
_KEY = struct.Struct(">hh")
_VALUE = struct.Struct(">hi")


class ControlMarker(NamedTuple):
    producer_id: int
    producer_epoch: int
    is_commit: bool
    coordinator_epoch: int
    timestamp_ms: int


def build_marker(
    *, producer_id: int, producer_epoch: int, is_commit: bool, coordinator_epoch: int, timestamp_ms: int
) -> bytes:
    record = Record(
        timestamp_ms=timestamp_ms,
        key=_KEY.pack(_VERSION, _COMMIT if is_commit else _ABORT),
        value=_VALUE.pack(_VERSION, coordinator_epoch),
    )
    return build_batch(
        [record], producer_id=producer_id, producer_epoch=producer_epoch, is_transactional=True, is_control=True
    )


def read_marker(batch: Buffer) -> ControlMarker | None:
    """The marker in a control batch; None if the batch holds none, or a control record of another kind."""
    header = read_header(batch)
    invariant(header.is_control, "only a control batch is read as a marker")
    records = read_records(batch)
    if not records:
        return None
    record = records[0]
    control_type = _read_versioned(_KEY, record.key, what="key")
    if control_type not in (_ABORT, _COMMIT):
        return None
    return ControlMarker(
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        is_commit=control_type == _COMMIT,
        coordinator_epoch=_read_versioned(_VALUE, record.value, what="value"),
        timestamp_ms=record.timestamp_ms,
    )


def _read_versioned(layout: struct.Struct, data: bytes | None, *, what: str) -> int:
    if data is None or len(data) < layout.size:
        raise InvalidRecordBatch(f"the {what} of a control record takes {layout.size} bytes and is {data!r}")
    version, number = layout.unpack_from(data)
    if version < 0:
        raise InvalidRecordBatch(f"the {what} of a control record has version {version}")
    return int(number)
