"""Which sealed segments hold batches of a partition: the way from an offset to a segment, and sums per partition."""

from array import array
from bisect import bisect_right
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
            stream.segments.append(segment)
            stream.first_offsets.append(first_offset)
            stream.last_offsets.append(last_offset)
            stream.max_timestamps.append(max_timestamp)
            stream.sizes.append(size_bytes)

    def replace(self, segments: Iterable[SealedSegment]) -> None:
        """All segments anew, in order."""
        self.segments, self._streams = [], {}
        for segment in segments:
            self.add(segment)
