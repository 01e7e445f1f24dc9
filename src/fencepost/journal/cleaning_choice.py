"""Which segments to clean next: dead ones at the front, one with enough garbage, or small neighbours to merge."""

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.journal.cleaning import CleaningPolicy
from fencepost.journal.frames import CHECKPOINT_REF, FRAME_HEADER_BYTES
from fencepost.journal.frontier import FRONTIER_FRAME_BYTES
from fencepost.journal.sealed_segment import SealedSegment
from fencepost.journal.segment_header import HEADER_BYTES

GARBAGE_RATIO_MIN = 0.2
_SMALL_DIVISOR = 4
"""A segment below this part of the usual size is small. Merging only small ones bounds how often a byte is copied."""


@dataclass(frozen=True, slots=True)
class CleaningRules:
    policy: CleaningPolicy
    kept_checkpoints: frozenset[int]
    segment_bytes: int

    @property
    def bound_position(self) -> int:
        """Entries below it may be dropped: both kept checkpoints cover them."""
        return min(self.kept_checkpoints, default=0)


@dataclass(frozen=True, slots=True)
class CleaningChoice:
    """`size_bytes` is the most that the segments can take as one."""

    segments: list[SealedSegment]
    drops_all: bool
    size_bytes: int = 0


def choose_segments(
    segments: Sequence[SealedSegment], rules: CleaningRules, *, from_position: int
) -> CleaningChoice | None:
    dead = _dead_front(segments, rules)
    if dead:
        return CleaningChoice(dead, drops_all=True)
    start = 0
    while start < len(segments):
        run = [] if segments[start].first_position < from_position else _run(segments[start:], rules)
        if run:
            return CleaningChoice(run, drops_all=False, size_bytes=_rewritten_bytes(run, rules))
        start += 1
    return None


def _dead_front(segments: Sequence[SealedSegment], rules: CleaningRules) -> list[SealedSegment]:
    dead: list[SealedSegment] = []
    for segment in segments:
        has_compacted = any(map(rules.policy.is_compacted, segment.head.summaries["partition_ref"].tolist()))
        if segment.last_position >= rules.bound_position or has_compacted or _live_bytes(segment, rules):
            break
        dead.append(segment)
    return dead


def _run(segments: Sequence[SealedSegment], rules: CleaningRules) -> list[SealedSegment]:
    """Neighbours from the first segment on that are worth writing as one; empty if it should stay as it is."""
    run: list[SealedSegment] = []
    run_bytes = 0
    for segment in segments:
        live_bytes = _live_bytes(segment, rules)
        is_small = live_bytes * _SMALL_DIVISOR <= rules.segment_bytes
        fits = not run or run_bytes + live_bytes <= rules.segment_bytes
        if not fits or not (is_small or _is_dirty(segment, rules, live_bytes)):
            break
        run.append(segment)
        run_bytes += live_bytes
    if len(run) == 1 and not _is_dirty(run[0], rules, run_bytes):
        return []
    return run


def _rewritten_bytes(run: list[SealedSegment], rules: CleaningRules) -> int:
    frame_bytes = sum(segment.head.row_count * FRAME_HEADER_BYTES for segment in run)
    return HEADER_BYTES + FRONTIER_FRAME_BYTES + frame_bytes + sum(_live_bytes(segment, rules) for segment in run)


def _is_dirty(segment: SealedSegment, rules: CleaningRules, live_bytes: int) -> bool:
    if segment.last_position >= rules.bound_position:
        return False
    refs = segment.head.summaries["partition_ref"].tolist()
    stored_bytes = int(segment.head.summaries["size_bytes"].sum())
    garbage_bytes = stored_bytes - live_bytes
    return garbage_bytes > stored_bytes * GARBAGE_RATIO_MIN or any(map(rules.policy.is_compacted, refs))


def _live_bytes(segment: SealedSegment, rules: CleaningRules) -> int:
    """What stays of a segment, as far as the index can tell: compaction may leave less."""
    if segment.last_position >= rules.bound_position:
        return int(segment.head.summaries["size_bytes"].sum())
    live_bytes = 0
    for ref, _, size_bytes, first_offset, last_offset, _ in segment.head.summaries.tolist():
        if ref == CHECKPOINT_REF:
            rows = segment.rows.rows(*segment.rows.bounds(ref))
            live_bytes += sum(row.size_bytes for row in rows if row.base_offset in rules.kept_checkpoints)
            continue
        start_offset = rules.policy.start_offset(ref)
        if start_offset <= first_offset:
            live_bytes += size_bytes
        elif start_offset <= last_offset:
            start, end = segment.rows.find(ref, start_offset)
            live_bytes += int(segment.rows.columns["size_bytes"][start:end].sum())
    return live_bytes
