"""Records as Arrow: from the wire to columns without a Python object for each record.

`read_arrow` reads a topic between two places, by default from its beginning to the last stable offset as it is at the
call. `Consumer.poll_arrow` stands on `take_arrow`. Both filter aborted transactions and markers exactly as the record
path does, with the same code.
"""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

import pyarrow as pa

from fencepost.client.consumer import Consumer
from fencepost.client.consumer_assignment import PartitionState
from fencepost.client.consumer_core import ConsumerCore
from fencepost.client.exceptions import ClientError, Timeout
from fencepost.client.fetch_chunk import FetchChunk
from fencepost.client.time_limits import Deadline
from fencepost.records.columnar import (
    ALL_OFFSETS,
    RECORD_SCHEMA_WITH_HEADERS,
    DecodedBatches,
    decode_batches,
)
from fencepost.records.errors import InvalidRecordBatch
from fencepost.records.header import read_header, split_batches
from fencepost.types import OffsetRange, TopicPartition

READ_SETTINGS = {"max_partition_fetch_bytes": 8 * 1024 * 1024, "group_id": None}
POLL_S = 1.0
PLACES_MIN = 4096


def _schema() -> pa.Schema:
    stored = {field.name: field for field in RECORD_SCHEMA_WITH_HEADERS}
    place = {
        "topic": pa.field("topic", pa.string(), nullable=False),
        "partition": pa.field("partition", pa.int32(), nullable=False),
    }
    names = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
    return pa.schema([place.get(name) or stored[name] for name in names])


ARROW_SCHEMA_WITH_HEADERS = _schema()
ARROW_SCHEMA = ARROW_SCHEMA_WITH_HEADERS.remove(len(ARROW_SCHEMA_WITH_HEADERS) - 1)


def read_arrow(
    bootstrap_servers: str | Iterable[str],
    topic: str,
    *,
    partitions: Iterable[int] | None = None,
    start_offsets: Mapping[int, int] | None = None,
    end_offsets: Mapping[int, int] | None = None,
    include_headers: bool = False,
    timeout: float = 300.0,
    **settings: Any,
) -> pa.Table:
    """The records of a topic, in order within each partition. Offsets are by partition, the end not included.

    Reads up to the last stable offset of the moment (the high watermark for `isolation_level="read_uncommitted"`), so
    it ends even while others write; `timeout` is in seconds.
    """
    deadline = Deadline(timeout)
    with Consumer(bootstrap_servers, **{**READ_SETTINGS, **settings}) as consumer:
        chosen = None if partitions is None else set(partitions)
        wanted = [where for where in consumer.partitions_for(topic) if chosen is None or where.partition in chosen]
        begins, ends = consumer.beginning_offsets(wanted), consumer.end_offsets(wanted)
        for where in wanted:
            begins[where] = (start_offsets or {}).get(where.partition, begins[where])
            ends[where] = min(ends[where], (end_offsets or {}).get(where.partition, ends[where]))
        remaining = {where: ends[where] for where in wanted if begins[where] < ends[where]}
        consumer.assign(remaining)
        for where in remaining:
            consumer.seek(where, begins[where])
        return pa.Table.from_batches(
            _read_to_ends(consumer, remaining, deadline, include_headers=include_headers),
            schema=ARROW_SCHEMA_WITH_HEADERS if include_headers else ARROW_SCHEMA,
        )


def take_arrow(
    core: ConsumerCore, *, include_headers: bool, ends: Mapping[TopicPartition, int] | None = None
) -> pa.RecordBatch:
    """What has arrived of all partitions that are not paused, as one record batch, perhaps of no rows."""
    core.fetch_in_bulk()
    pieces = take_pieces(core, include_headers=include_headers, ends=ends)
    if not pieces:
        return _nothing(include_headers)
    core.send()
    if len(pieces) == 1:
        return pieces[0]
    return pa.Table.from_batches(pieces).combine_chunks().to_batches()[0]


@cache
def _nothing(include_headers: bool) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=ARROW_SCHEMA_WITH_HEADERS if include_headers else ARROW_SCHEMA)


def take_pieces(
    core: ConsumerCore, *, include_headers: bool, ends: Mapping[TopicPartition, int] | None = None
) -> list[pa.RecordBatch]:
    """The same, one record batch for each answer of each partition. A problem behind some waits for the next call."""
    pieces: list[pa.RecordBatch] = []
    try:
        for state in core.assignment:
            if state.is_paused or state.position is None:
                continue
            if state.decoded:
                # Records that iteration decoded and did not hand out: ask for them again.
                state.move_to(state.position)
            end = (ends or {}).get(state.topic_partition, ALL_OFFSETS.end_offset)
            _take_state(state, core, end, pieces, include_headers=include_headers)
            if state.problem is not None and not state.chunks:
                raise state.problem
    except ClientError:
        if not pieces:
            raise
    return pieces


def _take_state(
    state: PartitionState, core: ConsumerCore, end: int, pieces: list[pa.RecordBatch], *, include_headers: bool
) -> None:
    while state.chunks and state.position is not None and state.position < end:
        chunk = state.chunks[0]
        if chunk.is_empty:
            state.position = max(state.position, chunk.position)
            state.chunks.popleft()
            continue
        offsets = OffsetRange(state.position, end)
        decoded = _decode(chunk, offsets, include_headers=include_headers, check_crcs=core.settings.check_crcs)
        chunk.advance(decoded.consumed_bytes, decoded.next_offset)
        state.position = decoded.next_offset
        if decoded.records.num_rows:
            state.was_consumed = True
            pieces.append(_with_place(decoded.records, state.topic_partition, include_headers=include_headers))


def _decode(chunk: FetchChunk, offsets: OffsetRange, *, include_headers: bool, check_crcs: bool) -> DecodedBatches:
    """The rest of the chunk; if a batch of it is corrupt, what lies before; if that is the first, `CorruptRecord`."""
    data, is_filtered = chunk.rest()
    unused = is_filtered.copy()
    options: dict[str, Any] = {"offsets": offsets, "with_headers": include_headers, "check_crcs": check_crcs}
    try:
        return decode_batches(data, skip_batch=is_filtered, **options)
    except InvalidRecordBatch as problem:
        good_bytes = _good_bytes(data, check_crcs=check_crcs)
        if not good_bytes:
            raise chunk.corrupt(problem, read_header(data).base_offset) from problem
        chunk.replace_filter(unused)
        return decode_batches(data[:good_bytes], skip_batch=unused, **options)


def _good_bytes(data: memoryview, *, check_crcs: bool) -> int:
    """How much of the data comes before the first batch that cannot be decoded."""
    good_bytes = 0
    for header, batch in split_batches(data, drop_partial_tail=True):
        try:
            decode_batches(batch, check_crcs=check_crcs)
        except InvalidRecordBatch:
            break
        good_bytes += header.size_bytes
    return good_bytes


def _with_place(records: pa.RecordBatch, where: TopicPartition, *, include_headers: bool) -> pa.RecordBatch:
    row_count = records.num_rows
    places = _places(where, max(PLACES_MIN, 1 << (row_count - 1).bit_length()))
    columns = records.columns
    return pa.RecordBatch.from_arrays(
        [*columns[:2], *(column.slice(0, row_count) for column in places), *columns[2:]],
        schema=ARROW_SCHEMA_WITH_HEADERS if include_headers else ARROW_SCHEMA,
    )


@lru_cache(maxsize=64)
def _places(where: TopicPartition, row_count: int) -> tuple[pa.Array, pa.Array]:
    """The columns `topic` and `partition` of so many rows: record batches share them."""
    topic, partition = pa.scalar(where.topic, pa.string()), pa.scalar(where.partition, pa.int32())
    return pa.repeat(topic, row_count), pa.repeat(partition, row_count)


def _read_to_ends(
    consumer: Consumer, ends: Mapping[TopicPartition, int], deadline: Deadline, *, include_headers: bool
) -> list[pa.RecordBatch]:
    core = consumer._core
    pieces: list[pa.RecordBatch] = []
    while len(core.assignment):
        core.keep_house()
        found = take_pieces(core, include_headers=include_headers, ends=ends)
        pieces += found
        core.assignment.become(
            state.topic_partition
            for state in core.assignment
            if state.position is None or state.position < ends[state.topic_partition]
        )
        if found:
            core.send()
        elif deadline.has_passed:
            left = ", ".join(map(str, core.assignment.partitions))
            raise Timeout(f"not everything could be read in time: {left}")
        elif len(core.assignment):
            core.advance(Deadline(deadline.at_most(POLL_S)))
    return pieces
