"""Replay: the newest checkpoint that is good and covers everything that cleaning dropped, then all that follows it.

A checkpoint that fails its checksum is passed over for the one before it. Without any, the whole journal is replayed if
nothing was ever dropped from it; otherwise start-up is refused, because the sum of what is left is not the state.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from fencepost.errors import CorruptLog
from fencepost.journal.directory import Directory
from fencepost.journal.frames import CHECKPOINT_REF, FRAME_HEADER_BYTES, Frame, FrameKind, scan_frames
from fencepost.journal.reading import read_rows
from fencepost.journal.rows import Row
from fencepost.journal.sealed_segment import SealedSegment
from fencepost.journal.segment_header import HEADER_BYTES
from fencepost.journal.segment_scan import damage
from fencepost.types import Buffer


class Entry(NamedTuple):
    position: int
    partition_ref: int
    payload: Buffer

    @property
    def is_checkpoint(self) -> bool:
        return self.partition_ref == CHECKPOINT_REF


@dataclass(frozen=True, slots=True)
class ReplayStart:
    checkpoint: Entry | None = None
    unreadable: frozenset[int] = frozenset()
    """Positions of the checkpoints that were passed over."""
    end_position: int = 0
    """Of the last entry to replay."""


def find_replay_start(directory: Directory) -> ReplayStart:
    dropped = dropped_position(directory)
    end_position = directory.segments[-1].last_position if directory.segments else 0
    passed_over: dict[int, str] = {}
    for segment, row in checkpoints(directory):
        if row.base_offset <= dropped:
            passed_over[row.base_offset] = f"the one at entry {row.base_offset} does not cover them"
            break
        try:
            payload = read_rows(segment, CHECKPOINT_REF, [row])[0]
        except CorruptLog as error:
            passed_over[row.base_offset] = str(error)
            continue
        return ReplayStart(Entry(row.base_offset, CHECKPOINT_REF, payload), frozenset(passed_over), end_position)
    if dropped:
        raise CorruptLog(
            f"cleaning has dropped entries up to {dropped} and no state checkpoint that covers them can be read "
            f"({'; '.join(passed_over.values()) or 'there is none'}). Restore the data folder from a backup."
        )
    return ReplayStart(None, frozenset(passed_over), end_position)


def dropped_position(directory: Directory) -> int:
    """The last position whose entry is not in the journal any more, or not as it was appended."""
    if not directory.segments:
        return 0
    return max(directory.segments[0].first_position - 1, *(s.header.dropped_position for s in directory.segments))


def checkpoints(directory: Directory) -> Iterator[tuple[SealedSegment, Row]]:
    """All checkpoints in sealed segments, newest first."""
    stream = directory.stream(CHECKPOINT_REF)
    for segment in reversed(stream.segments if stream else []):
        for number in reversed(range(*segment.rows.bounds(CHECKPOINT_REF))):
            yield segment, segment.rows.row(number)


def replay_entries(directory: Directory, start: ReplayStart) -> Iterator[Entry]:
    position = 0
    if start.checkpoint is not None:
        yield start.checkpoint
        position = start.checkpoint.position
    for segment in list(directory.segments):
        if position < segment.last_position and segment.first_position <= start.end_position:
            yield from _segment_entries(segment, after_position=position)


def _segment_entries(segment: SealedSegment, *, after_position: int) -> Iterator[Entry]:
    place = HEADER_BYTES
    with closing(segment.open_file()) as file:
        while place < segment.end_place:
            for frame in scan_frames(file, seed=segment.seed, place=place, end_place=segment.end_place):
                if frame.fault:
                    break
                if frame.kind == FrameKind.BATCH and frame.position > after_position:
                    yield Entry(frame.position, frame.partition_ref, frame.payload)
            else:
                return
            place = _behind_bad_checkpoint(segment, frame)


def _behind_bad_checkpoint(segment: SealedSegment, frame: Frame) -> int:
    """State that replay does without may be unreadable; an entry may not."""
    rows = segment.rows
    for number in range(*rows.bounds(CHECKPOINT_REF)):
        row = rows.row(number)
        if row.place == frame.place:
            return row.place + FRAME_HEADER_BYTES + row.size_bytes
    if frame.kind == FrameKind.CHECKPOINT and frame.end_place > frame.place:
        return frame.end_place
    raise damage(segment.header, frame, frame.place)
