"""Cleaning: sealed segments are written anew with what is still wanted, in place and in the same order, or dropped.

Nothing moves to the tail, so the journal stays the same sequence with holes. What is wanted is a policy from above. The
rules of this room hold whatever the policy says: nothing is dropped or changed that lies behind the older of the two
newest synced checkpoints, and those two stay. Small neighbours are merged into one segment on the way.

`Journal.begin_cleaning` chooses (owner's thread), `Cleaning.run` does it (any thread; only the disk and its own data),
`Journal.finish_cleaning` shows the result to readers.
"""

from dataclasses import dataclass, field
from typing import Protocol

from fencepost.errors import CorruptLog, invariant
from fencepost.journal.commit import Health
from fencepost.journal.disk import Disk, DiskFile, DiskFull, SyncFailed
from fencepost.journal.frames import Frame, FrameKind, scan_frames
from fencepost.journal.index_file import IndexHead
from fencepost.journal.rewriting import SegmentRewriter
from fencepost.journal.sealed_segment import SealedSegment
from fencepost.journal.segment_header import HEADER_BYTES, SegmentHeader, index_name
from fencepost.journal.segment_scan import damage
from fencepost.records.header import read_header
from fencepost.types import Buffer


class CleaningPolicy(Protocol):
    """What is still wanted. Asked on the thread that runs the cleaning, so it must not change meanwhile."""

    def start_offset(self, partition_ref: int) -> int:
        """Batches that end below it are dropped: 0 keeps all, a number above all offsets drops the partition."""

    def is_compacted(self, partition_ref: int) -> bool:
        """Whether `compact` wants to see the batches that are left."""

    def compact(self, partition_ref: int, batch: memoryview) -> Buffer | None:
        """What is left of a batch: itself, a smaller one with the same base and last offset in its header, or None."""


@dataclass(slots=True)
class Cleaning:
    """One run of neighbouring segments on its way to become one segment, or none."""

    disk: Disk
    health: Health
    policy: CleaningPolicy
    segments: list[SealedSegment]
    sources: list[DiskFile]
    salt: int
    kept_checkpoints: frozenset[int]
    drops_all: bool
    size_bytes: int
    """The most that the new segment can take."""
    result: tuple[SegmentHeader, IndexHead] | None = None
    is_done: bool = False
    """Whether the old segments are replaced (by `result`, or by nothing)."""

    _dropped_position: int = field(default=0)

    @property
    def next_position(self) -> int:
        """Where the search for the next segments to clean goes on."""
        return self.segments[-1].last_position + 1

    def run(self) -> None:
        """Raises `DiskFull` or `CorruptLog`, and has then changed nothing."""
        self.health.check()
        try:
            if self.drops_all:
                self._drop(self.segments)
                self.is_done = True
            else:
                self._rewrite()
        except SyncFailed as failure:
            self.health.failure = failure
            raise

    def release(self) -> None:
        """Close the files of the old segments; readers are done with them."""
        for source in self.sources:
            source.close()
        for segment in self.segments:
            segment.unpin()
            if self.is_done:
                segment.close()

    def _rewrite(self) -> None:
        first, last = self.segments[0], self.segments[-1]
        rewriter = SegmentRewriter(
            self.disk,
            first_position=first.first_position,
            salt=self.salt,
            size_bytes=self.size_bytes,
        )
        try:
            is_changed = self._copy_wanted(rewriter) or len(self.segments) > 1
            if is_changed:
                dropped = max(self._dropped_position, *(s.header.dropped_position for s in self.segments))
                result = rewriter.complete(last_position=last.last_position, dropped_position=dropped)
        except (DiskFull, CorruptLog):
            rewriter.discard()
            raise
        if not is_changed:
            rewriter.discard()
            return
        rewriter.publish()
        self.result = result
        self.is_done = True
        self._drop(self.segments[1:])

    def _copy_wanted(self, rewriter: SegmentRewriter) -> bool:
        """Whether anything was dropped or rewritten."""
        is_changed = False
        for segment, source in zip(self.segments, self.sources, strict=True):
            for frame in scan_frames(source, seed=segment.seed, place=HEADER_BYTES, end_place=segment.end_place):
                if frame.kind in (FrameKind.GROUP, FrameKind.SEAL):
                    continue
                payload = self._wanted(segment, frame)
                if payload is not None:
                    rewriter.add(frame, payload)
                if payload is not frame.payload:
                    is_changed = True
                    if frame.kind == FrameKind.BATCH:
                        self._dropped_position = frame.position
        return is_changed

    def _wanted(self, segment: SealedSegment, frame: Frame) -> Buffer | None:
        if frame.kind == FrameKind.CHECKPOINT and frame.position not in self.kept_checkpoints:
            return None
        if frame.fault:
            raise damage(segment.header, frame, frame.place)
        if frame.kind == FrameKind.CHECKPOINT or frame.position >= self._bound:
            return frame.payload
        batch = read_header(frame.payload)
        if batch.last_offset < self.policy.start_offset(frame.partition_ref):
            return None
        if not self.policy.is_compacted(frame.partition_ref):
            return frame.payload
        left = self.policy.compact(frame.partition_ref, frame.payload)
        if left is not None and left is not frame.payload:
            rewritten = read_header(left)
            is_smaller = rewritten.size_bytes == len(left) <= len(frame.payload)
            has_offsets = (rewritten.base_offset, rewritten.last_offset) == (batch.base_offset, batch.last_offset)
            invariant(is_smaller and has_offsets, "compaction leaves a smaller batch with the same offsets")
        return left

    @property
    def _bound(self) -> int:
        return min(self.kept_checkpoints, default=0)

    def _drop(self, segments: list[SealedSegment]) -> None:
        """Oldest first, each gone for good before the next: a crash must not leave a gap."""
        for segment in segments:
            self.disk.unlink(segment.name)
            self.disk.sync_folder()
        for segment in segments:
            if index_name(segment.first_position) in self.disk.list_names():
                self.disk.unlink(index_name(segment.first_position))
