"""Which sealed segments hold batches of a partition: the way from an offset to a segment, and sums per partition."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from fencepost.journal.sealed_segment import SealedSegment


class Stream:
    """One partition's way through the sealed segments, oldest first."""

    __slots__ = ("first_offsets", "last_offsets", "max_timestamps", "segments", "sizes")

    def __init__(self) -> None:
        self.segments: list[SealedSegment] = []
        self.first_offsets = array("q")
        self.last_offsets = array("q")
        self.max_timestamps = array("q")
        self.sizes = array("q")

    def segments_from(self, offset: int) -> list[SealedSegment]:
        """The segments that may hold `offset` and what follows it."""
        number = bisect_right(self.first_offsets, offset)
        if number and self.last_offsets[number - 1] >= offset:
            number -= 1
        return self.segments[number:]

    def insert(self, number: int, segment: SealedSegment, summary: tuple[int, int, int, int]) -> None:
        """`summary` is size, first offset, last offset, largest timestamp."""
        self.segments.insert(number, segment)
        for column, value in zip(self._columns(), summary, strict=True):
            column.insert(number, value)

    def swap(self, old: list[SealedSegment], new: SealedSegment | None, summary: tuple[int, ...] | None) -> None:
        number = bisect_left(self.segments, old[0].first_position, key=lambda segment: segment.first_position)
        while number < len(self.segments) and self.segments[number] in old:
            del self.segments[number]
            for column in self._columns():
                del column[number]
        if new is not None and summary is not None:
            self.insert(number, new, (summary[2], summary[3], summary[4], summary[5]))

    def _columns(self) -> tuple["array[int]", ...]:
        return self.sizes, self.first_offsets, self.last_offsets, self.max_timestamps

    @property
    def size_bytes(self) -> int:
        return sum(self.sizes)


class Directory:
    def __init__(self) -> None:
        self.segments: list[SealedSegment] = []
        self._streams: dict[int, Stream] = {}

    def stream(self, partition_ref: int) -> Stream | None:
        return self._streams.get(partition_ref)

    def partition_refs(self) -> list[int]:
        return sorted(self._streams)

    def add(self, segment: SealedSegment) -> None:
        """The segment that follows all others."""
        self.segments.append(segment)
        for partition_ref, _, size_bytes, first_offset, last_offset, max_timestamp in segment.head.summaries.tolist():
            stream = self._streams.get(partition_ref)
            if stream is None:
                stream = self._streams[partition_ref] = Stream()
            stream.insert(len(stream.segments), segment, (size_bytes, first_offset, last_offset, max_timestamp))

    def swap(self, old: list[SealedSegment], new: SealedSegment | None) -> None:
        """Put `new`, or nothing, in the place of neighbouring segments."""
        number = self.segments.index(old[0])
        self.segments[number : number + len(old)] = [new] if new else []
        summaries = {row[0]: row for row in new.head.summaries.tolist()} if new else {}
        refs = set(summaries)
        for segment in old:
            refs.update(segment.head.summaries["partition_ref"].tolist())
        for partition_ref in sorted(refs):
            stream = self._streams[partition_ref]
            stream.swap(old, new, summaries.get(partition_ref))
            if not stream.segments:
                del self._streams[partition_ref]

    def replace(self, segments: Iterable[SealedSegment]) -> None:
        """All segments anew, in order."""
        self.segments, self._streams = [], {}
        for segment in segments:
            self.add(segment)
