"""What one answer brought of one partition: batches still as bytes, taken out one by one as they are wanted.

Pure. `next_offset` is where the answer ends, known at once from the headers, so that the next fetch can be under way
while this one is decoded. Batches that are not for the reader are passed over; the place to go on moves past them.
Behind a batch with an impossible length no other can be found: the chunk ends before it, and `damage` names it.
"""

import heapq
from collections.abc import Iterable
from struct import Struct

from fencepost.client.exceptions import CorruptRecord
from fencepost.records.control import read_marker
from fencepost.records.header import HEADER_BYTES, LENGTH_END, BatchHeader, check_crc, read_header
from fencepost.records.reader import read_records
from fencepost.records.record import InvalidRecordBatch, Record
from fencepost.types import Buffer, TopicPartition
from fencepost.wire.messages.fetch import PartitionData

_LENGTH = Struct(">i")
_LENGTH_START = 8


class FetchFilter:
    """Which batches of one answer a reader gets. Called with every batch in order; True: it is not for the reader.

    A `read_committed` answer names the aborted transactions that reach into it, as (producer id, first offset). Walking
    through the batches in order, a transaction is open from its first offset to its ABORT marker; its batches are
    skipped. Markers are never delivered, at any isolation level. The state belongs to one answer: the broker repeats in
    the next one what still matters there. Naming too many transactions is harmless.
    """

    __slots__ = ("_aborting", "_coming")

    def __init__(self, aborted_transactions: Iterable[tuple[int, int]] | None = None) -> None:
        self._coming = [(first_offset, producer_id) for producer_id, first_offset in aborted_transactions or ()]
        heapq.heapify(self._coming)
        self._aborting: set[int] = set()

    def copy(self) -> "FetchFilter":
        """Another one in the same state."""
        other = FetchFilter()
        other._coming, other._aborting = self._coming.copy(), self._aborting.copy()
        return other

    def __call__(self, header: BatchHeader, batch: memoryview) -> bool:
        if header.producer_id < 0:
            return header.is_control
        while self._coming and self._coming[0][0] <= header.last_offset:
            self._aborting.add(heapq.heappop(self._coming)[1])
        if header.is_control:
            if header.producer_id in self._aborting and _is_abort(batch):
                self._aborting.discard(header.producer_id)
            return True
        return header.is_transactional and header.producer_id in self._aborting


def _is_abort(batch: memoryview) -> bool:
    marker = read_marker(batch)
    return marker is not None and not marker.is_commit


class FetchChunk:
    __slots__ = ("_at", "_data", "_end", "_filter", "_where", "damage", "fetch_offset", "next_offset", "position")

    def __init__(
        self,
        topic_partition: TopicPartition,
        data: Buffer,
        *,
        fetch_offset: int,
        aborted_transactions: Iterable[tuple[int, int]] | None = None,
    ) -> None:
        self._where = topic_partition
        self._data = memoryview(data)
        self._filter = FetchFilter(aborted_transactions)
        self._at = 0
        self.fetch_offset = fetch_offset
        self.position = fetch_offset
        """The offset to go on from: behind the last batch that was taken or passed over."""
        self.damage: CorruptRecord | None = None
        """What comes behind the last batch of the chunk, for who has handed out everything before it."""
        last, self._end = self._walk()
        self.next_offset = (
            fetch_offset if last is None else max(read_header(self._data, last).last_offset + 1, fetch_offset)
        )

    @classmethod
    def of_answer(
        cls, topic_partition: TopicPartition, answer: PartitionData, *, fetch_offset: int
    ) -> "FetchChunk | None":
        """None if the answer brought nothing. Only one to `read_committed` names aborted transactions."""
        records = answer.records[0] if answer.records else b""
        if not len(records):
            return None
        aborted = [(row.producer_id, row.first_offset) for row in answer.aborted_transactions or ()]
        return cls(topic_partition, records, fetch_offset=fetch_offset, aborted_transactions=aborted)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left, not even batches to pass over."""
        return self._at >= self._end

    @property
    def remaining_bytes(self) -> int:
        return self._end - self._at

    def next_batch(self, *, check_crcs: bool) -> list[Record]:
        """The reader's records of the next batch: none if the batch is passed over. Raises `CorruptRecord`."""
        header = read_header(self._data, self._at)
        end = self._at + header.size_bytes
        batch = self._data[self._at : end]
        try:
            if check_crcs and not check_crc(batch):
                raise InvalidRecordBatch("the batch fails its checksum")
            records = [] if self._filter(header, batch) else read_records(batch)
        except InvalidRecordBatch as problem:
            raise self.corrupt(problem, header.base_offset) from problem
        self._at = end
        self.position = max(self.position, header.last_offset + 1)
        if records and records[0].offset < self.fetch_offset:
            return [record for record in records if record.offset >= self.fetch_offset]
        return records

    def rest(self) -> tuple[memoryview, FetchFilter]:
        """The batches that are left, with the filter in the state that fits them, for who decodes them all at once."""
        return self._data[self._at : self._end], self._filter

    def advance(self, consumed_bytes: int, position: int) -> None:
        self._at += consumed_bytes
        self.position = position

    def replace_filter(self, fresh: FetchFilter) -> None:
        """Go back to an earlier state of the filter, after a decoding that came to nothing."""
        self._filter = fresh

    def corrupt(self, problem: InvalidRecordBatch, offset: int) -> CorruptRecord:
        return CorruptRecord(self._where, offset, f"{problem}; seek past it to go on")

    def _walk(self) -> tuple[int | None, int]:
        """Where the last whole batch begins and ends; one that was cut short or has a wrong length is not counted."""
        size_bytes, at, last = len(self._data), 0, None
        while at + HEADER_BYTES <= size_bytes:
            end = at + LENGTH_END + _LENGTH.unpack_from(self._data, at + _LENGTH_START)[0]
            if end > size_bytes:
                break
            if end < at + HEADER_BYTES:
                problem = InvalidRecordBatch(f"a batch says it has {end - at} bytes")
                self.damage = self.corrupt(problem, read_header(self._data, at).base_offset)
                break
            last, at = at, end
        return last, at
