"""The state of a partition as bytes, for the journal's checkpoints: all that a fold yields, all five batches included.

Layout 1, little-endian: the offsets; leader epochs (one, 0, from the log's start); producers, each followed by its
batches, oldest first; decided transactions; the aborted index, column by column. Ongoing transactions are not stored:
each producer's `current_txn_first_offset` says which they are.
The journal's frame has the checksum. Bytes of another layout or of a wrong length are `CorruptLog`.
"""

import struct
import sys
from array import array
from collections import OrderedDict
from typing import Any

from fencepost.errors import CorruptLog
from fencepost.partition.partition import (
    LEADER_EPOCH,
    AbortedIndex,
    DecidedTransaction,
    OpenTransactions,
    PartitionState,
)
from fencepost.partition.producer_state import CachedBatch, ProducerState
from fencepost.records.record import decrement_sequence
from fencepost.types import NO_SEQUENCE, Buffer

LAYOUT = 1

_HEAD = struct.Struct("<Hqqq")
_COUNT = struct.Struct("<I")
_LEADER_EPOCH = struct.Struct("<iq")
_PRODUCER = struct.Struct("<qhiqqB")
_BATCH = struct.Struct("<iqiq")
_DECIDED = struct.Struct("<qqq")


def dump_state(state: PartitionState) -> bytes:
    pieces = [_HEAD.pack(LAYOUT, state.log_start_offset, state.end_offset, state.high_watermark)]
    pieces += [_COUNT.pack(1), _LEADER_EPOCH.pack(LEADER_EPOCH, state.log_start_offset)]
    pieces.append(_COUNT.pack(len(state.producers)))
    for producer_id, producer in state.producers.items():
        pieces.append(_dump_producer(producer_id, producer))
        pieces += [_dump_batch(batch) for batch in producer.batches]
    pieces.append(_COUNT.pack(len(state.transactions.decided)))
    pieces += [_DECIDED.pack(*decided) for decided in state.transactions.decided]
    pieces.append(_COUNT.pack(len(state.aborted)))
    pieces += [_little_endian(column).tobytes() for column in state.aborted.columns()]
    return b"".join(pieces)


def load_state(dump: Buffer) -> PartitionState:
    reader = _Reader(dump)
    layout, log_start_offset, end_offset, high_watermark = reader.take(_HEAD)
    if layout != LAYOUT:
        raise CorruptLog(f"the checkpoint of a partition has layout {layout}: {LAYOUT} is known")
    for _ in range(reader.take_count()):
        reader.take(_LEADER_EPOCH)
    producers = dict(_load_producer(reader) for _ in range(reader.take_count()))
    decided = [DecidedTransaction(*reader.take(_DECIDED)) for _ in range(reader.take_count())]
    rows = reader.take_count()
    aborted = AbortedIndex(*[reader.take_column(rows) for _ in range(4)])
    reader.finish()
    ongoing = sorted(
        (producer.current_txn_first_offset, producer_id)
        for producer_id, producer in producers.items()
        if producer.has_open_transaction
    )
    return PartitionState(
        log_start_offset=log_start_offset,
        end_offset=end_offset,
        high_watermark=high_watermark,
        producers=producers,
        transactions=OpenTransactions(OrderedDict(ongoing), decided),
        aborted=aborted,
    )


def _dump_producer(producer_id: int, producer: ProducerState) -> bytes:
    return _PRODUCER.pack(
        producer_id,
        producer.producer_epoch,
        producer.coordinator_epoch,
        producer.last_timestamp,
        producer.current_txn_first_offset,
        len(producer.batches),
    )


def _load_producer(reader: "_Reader") -> tuple[int, ProducerState]:
    producer_id, producer_epoch, coordinator_epoch, last_timestamp, first_offset, batch_count = reader.take(_PRODUCER)
    batches = [_load_batch(reader) for _ in range(batch_count)]
    return producer_id, ProducerState(producer_epoch, coordinator_epoch, last_timestamp, first_offset, batches)


def _dump_batch(batch: CachedBatch) -> bytes:
    return _BATCH.pack(batch.last_sequence, batch.last_offset, batch.last_offset - batch.base_offset, batch.timestamp)


def _load_batch(reader: "_Reader") -> CachedBatch:
    last_sequence, last_offset, offset_delta, timestamp = reader.take(_BATCH)
    first_sequence = NO_SEQUENCE if last_sequence == NO_SEQUENCE else decrement_sequence(last_sequence, offset_delta)
    return CachedBatch(first_sequence, last_sequence, last_offset - offset_delta, last_offset, timestamp)


def _little_endian(column: "array[int]") -> "array[int]":
    if sys.byteorder == "little":
        return column
    swapped = column[:]
    swapped.byteswap()
    return swapped


class _Reader:
    """Takes fixed layouts off the front of a dump, and says when the dump is too short or too long."""

    def __init__(self, dump: Buffer) -> None:
        self._dump = memoryview(dump)
        self._position = 0

    def take(self, layout: struct.Struct) -> tuple[Any, ...]:
        return layout.unpack(self._take_bytes(layout.size))

    def take_count(self) -> int:
        count: int = self.take(_COUNT)[0]
        return count

    def take_column(self, rows: int) -> "array[int]":
        column = array("q")
        column.frombytes(self._take_bytes(rows * column.itemsize))
        return _little_endian(column)

    def finish(self) -> None:
        if self._position != len(self._dump):
            raise CorruptLog(f"the checkpoint of a partition ends at {self._position} of {len(self._dump)} bytes")

    def _take_bytes(self, size_bytes: int) -> memoryview:
        end = self._position + size_bytes
        if end > len(self._dump):
            raise CorruptLog(f"the checkpoint of a partition needs {end} bytes and has {len(self._dump)}")
        taken = self._dump[self._position : end]
        self._position = end
        return taken
