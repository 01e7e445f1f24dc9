"""Records as Arrow: from the wire to columns without a Python object for each record.

`read_arrow` reads a topic between two places, by default from its beginning to the last stable offset as it is at the
call. `Consumer.poll_arrow` stands on `take_arrow`. Both filter aborted transactions and markers exactly as the record
path does, with the same code.

A table has every record between its two places or is not made: an offset that is gone, at the start or because
retention overtook the read, is `OffsetOutOfRange`, unless `auto_offset_reset` is given and says where to go instead.
"""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any
from uuid import UUID

import pyarrow as pa

from fencepost.client.consumer.arrow_range import TopicReplaced, decode_chunk
from fencepost.client.consumer.assignment import PartitionState
from fencepost.client.consumer.consumer import Consumer
from fencepost.client.consumer.core import ConsumerCore
from fencepost.client.consumer.fetch_session import is_same_topic
from fencepost.client.exceptions import ClientError, OffsetOutOfRange, Timeout
from fencepost.client.time_limits import Deadline
from fencepost.records.columnar.arrow import ARROW_BYTES_MAX
from fencepost.records.columnar.decode import ALL_OFFSETS, RECORD_SCHEMA_WITH_HEADERS
from fencepost.types import OffsetRange, TopicPartition

READ_SETTINGS = {"max_partition_fetch_bytes": 8 * 1024 * 1024, "group_id": None, "auto_offset_reset": "none"}
POLL_S = 1.0
LAST_QUESTION_S = 5.0
"""For where the log begins, when the time is all but up and the answer is part of an error."""
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
    it ends even while others write; `timeout` is in seconds. A partition that `start_offsets` does not name is read
    from where it begins. `OffsetOutOfRange`: a start, or what comes next, is not there any more.
    """
    deadline = Deadline(timeout)
    given = {name: value for name, value in settings.items() if value is not None}
    with Consumer(bootstrap_servers, **{**READ_SETTINGS, **given}) as consumer:
        chosen = None if partitions is None else set(partitions)
        wanted = [
            topic_partition
            for topic_partition in consumer.partitions_for(topic)
            if chosen is None or topic_partition.partition in chosen
        ]
        topic_id = consumer._core.cluster.metadata.topic_id(topic)
        ranges = _ranges(consumer, wanted, start_offsets or {}, end_offsets or {})
        consumer.assign(ranges)
        for topic_partition, (start, _) in ranges.items():
            consumer.seek(topic_partition, start)
            # The offsets are this topic's: a change that happened while they were asked for is one, too.
            consumer._core.assignment[topic_partition].topic_id = topic_id
        ends = {topic_partition: end for topic_partition, (_, end) in ranges.items()}
        try:
            pieces = _read_to_ends(consumer, ends, deadline, include_headers=include_headers)
        except OffsetOutOfRange as problem:
            raise _explained(consumer, problem, topic_id, deadline) from problem
        return pa.Table.from_batches(pieces, schema=ARROW_SCHEMA_WITH_HEADERS if include_headers else ARROW_SCHEMA)


def _ranges(
    consumer: Consumer, wanted: list[TopicPartition], starts: Mapping[int, int], stops: Mapping[int, int]
) -> dict[TopicPartition, OffsetRange]:
    """What to read of each partition that has something to read."""
    begins, ends = consumer.beginning_offsets(wanted), consumer.end_offsets(wanted)
    ranges = {}
    for topic_partition in wanted:
        start = starts.get(topic_partition.partition, begins[topic_partition])
        end = min(ends[topic_partition], stops.get(topic_partition.partition, ends[topic_partition]))
        if start >= end:
            continue
        if 0 <= start < begins[topic_partition] and consumer._settings.auto_offset_reset == "none":
            raise _gone(topic_partition, start, begins[topic_partition])
        ranges[topic_partition] = OffsetRange(start, end)
    return ranges


def _explained(consumer: Consumer, problem: OffsetOutOfRange, topic_id: UUID, deadline: Deadline) -> OffsetOutOfRange:
    """What happened to the topic while it was read."""
    topic_partition = problem.topic_partition
    if not is_same_topic(consumer._core.cluster.metadata.topic_id(topic_partition.topic), topic_id):
        message = "the topic was deleted and created again while it was read; read it again"
        return TopicReplaced(topic_partition, problem.offset, message)
    first = consumer.beginning_offsets([topic_partition], max(LAST_QUESTION_S, deadline.remaining_s))
    return _gone(topic_partition, problem.offset, first[topic_partition])


def _gone(topic_partition: TopicPartition, offset: int | None, first: int) -> OffsetOutOfRange:
    message = f"it is gone, the first one there is has offset {first}: ask from {first} on, or leave start_offsets out"
    return OffsetOutOfRange(topic_partition, offset, message)


def take_arrow(core: ConsumerCore, *, include_headers: bool, bytes_max: int = ARROW_BYTES_MAX) -> pa.RecordBatch:
    """What has arrived of all partitions that are not paused, as one record batch, perhaps of no rows.

    At most `bytes_max` in all columns together, because one column cannot hold more; the rest comes with the next call.
    """
    core.fetch_in_bulk()
    with core.handing_out():
        pieces = take_pieces(core, include_headers=include_headers, bytes_max=bytes_max)
        if not pieces:
            return _nothing(include_headers)
        core.send()
        if len(pieces) == 1:
            return pieces[0]
        (combined,) = pa.Table.from_batches(pieces).combine_chunks().to_batches()
        return combined


@cache
def _nothing(include_headers: bool) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=ARROW_SCHEMA_WITH_HEADERS if include_headers else ARROW_SCHEMA)


def take_pieces(
    core: ConsumerCore,
    *,
    include_headers: bool,
    ends: Mapping[TopicPartition, int] | None = None,
    bytes_max: int | None = None,
) -> list[pa.RecordBatch]:
    """The same, one record batch for each answer of each partition. A problem behind some waits for the next call."""
    taken = _Taken(include_headers=include_headers, check_crcs=core.settings.check_crcs, bytes_max=bytes_max)
    try:
        for state in core.assignment:
            if state.is_paused:
                continue
            if state.decoded and state.position is not None:
                # Records that iteration decoded and did not hand out: ask for them again.
                state.move_to(state.position)
            end = (ends or {}).get(state.topic_partition, ALL_OFFSETS.end_offset)
            if not _take_state(state, end, taken):
                break
            is_before_end = state.position is None or state.position < end
            if state.problem is not None and is_before_end and not state.chunks:
                raise state.problem
    except ClientError:
        if not taken.pieces:
            raise
    for topic_partition in taken.had_a_turn:
        core.assignment.rotate(topic_partition)
    return taken.pieces


class _Taken:
    """What one call takes."""

    def __init__(self, *, include_headers: bool, check_crcs: bool, bytes_max: int | None) -> None:
        self.include_headers = include_headers
        self.check_crcs = check_crcs
        self.pieces: list[pa.RecordBatch] = []
        self.had_a_turn: dict[TopicPartition, None] = {}
        self._bytes_max = bytes_max
        self._size_bytes = 0

    def add(self, piece: pa.RecordBatch, topic_partition: TopicPartition) -> bool:
        """Whether there was room for it."""
        size_bytes = piece.nbytes
        if self._bytes_max is not None and not has_room(self._size_bytes, size_bytes, bytes_max=self._bytes_max):
            return False
        self._size_bytes += size_bytes
        self.pieces.append(piece)
        self.had_a_turn[topic_partition] = None
        return True


def has_room(taken_bytes: int, more_bytes: int, *, bytes_max: int) -> bool:
    """Whether so much more may join what was taken; whatever comes first may."""
    return not taken_bytes or taken_bytes + more_bytes <= bytes_max


def _take_state(state: PartitionState, end: int, taken: _Taken) -> bool:
    """Take what is here of the partition. False if there is more than has room; that is left as it was."""
    while state.chunks and state.position is not None and state.position < end:
        chunk = state.chunks[0]
        if chunk.is_empty:
            state.position = max(state.position, chunk.position)
            state.chunks.popleft()
            continue
        unused = chunk.rest()[1].copy()
        decoded = decode_chunk(
            chunk,
            OffsetRange(state.position, end),
            include_headers=taken.include_headers,
            check_crcs=taken.check_crcs,
        )
        if decoded.records.num_rows:
            piece = _with_place(decoded.records, state.topic_partition, include_headers=taken.include_headers)
            if not taken.add(piece, state.topic_partition):
                chunk.replace_filter(unused)
                return False
            state.was_consumed = True
        chunk.advance(decoded.consumed_bytes, decoded.next_offset)
        state.position = decoded.next_offset
    return True


def _with_place(records: pa.RecordBatch, topic_partition: TopicPartition, *, include_headers: bool) -> pa.RecordBatch:
    row_count = records.num_rows
    places = _places(topic_partition, max(PLACES_MIN, 1 << (row_count - 1).bit_length()))
    columns = records.columns
    return pa.RecordBatch.from_arrays(
        [*columns[:2], *(column.slice(0, row_count) for column in places), *columns[2:]],
        schema=ARROW_SCHEMA_WITH_HEADERS if include_headers else ARROW_SCHEMA,
    )


@lru_cache(maxsize=64)
def _places(topic_partition: TopicPartition, row_count: int) -> tuple[pa.Array, pa.Array]:
    """The columns `topic` and `partition` of so many rows: record batches share them."""
    topic, partition = pa.scalar(topic_partition.topic, pa.string()), pa.scalar(topic_partition.partition, pa.int32())
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
