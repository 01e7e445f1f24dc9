"""What can be read of a segment, damaged or not: every good entry, and what is lost between them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from fencepost.journal.disk import DiskFile
from fencepost.journal.frames import Frame, FrameKind, checksum_seed, scan_frames
from fencepost.journal.frontier import find_frontier
from fencepost.journal.segment_header import HEADER_BYTES, SegmentHeader, segment_name


@dataclass(frozen=True, slots=True)
class Loss:
    """Of the entries between two positions, both of which are there, nothing can be read."""

    segment: str
    place: int
    after_position: int
    before_position: int
    fault: str

    @property
    def has_entries(self) -> bool:
        """False if only a frame between two entries is damaged."""
        return self.before_position > self.after_position + 1

    def __str__(self) -> str:
        if not self.has_entries:
            return f"segment {self.segment}, byte {self.place}: {self.fault}; no entry is lost"
        entries = f"entries {self.after_position + 1} to {self.before_position - 1}"
        return f"segment {self.segment}, byte {self.place}: {self.fault}; {entries} are lost"


@dataclass(slots=True)
class Survey:
    header: SegmentHeader
    end_position: int
    """The last position that the segment stands for, as far as it can be read."""
    newest_checkpoint: int = 0
    losses: list[Loss] = field(default_factory=list)

    @property
    def first_position(self) -> int:
        return self.header.first_position

    @property
    def name(self) -> str:
        return segment_name(self.header.first_position)


def survey_segment(file: DiskFile, header: SegmentHeader, *, is_last: bool) -> Survey:
    """`is_last` forgives a tail that is torn, as recovery does."""
    survey = Survey(header, header.first_position - 1)
    bad_frame: Frame | None = None
    for frame in readable_frames(file, header):
        if frame.fault:
            bad_frame = bad_frame or frame
            continue
        if bad_frame is not None:
            survey.losses.append(_loss(survey, bad_frame, before_position=frame.position))
            bad_frame = None
        if frame.kind == FrameKind.SEAL:
            survey.end_position = frame.position - 1
            return survey
        survey.end_position = frame.position if frame.kind != FrameKind.GROUP else frame.position - 1
        if frame.kind == FrameKind.CHECKPOINT:
            survey.newest_checkpoint = frame.position
    if header.is_cleaned or not is_last:
        end_position = max(header.last_position, survey.end_position)
        survey.losses.append(_loss(survey, bad_frame, before_position=end_position + 1, place=file.size_bytes()))
        survey.end_position = end_position
    return survey


def readable_frames(file: DiskFile, header: SegmentHeader) -> Iterator[Frame]:
    """All frames that are good, and each bad one that hides what is behind it. A damaged checkpoint hides nothing."""
    place: int | None = HEADER_BYTES
    end_place = file.size_bytes()
    while place is not None:
        next_place: int | None = None
        for frame in scan_frames(file, seed=checksum_seed(header.salt), place=place, end_place=end_place):
            if frame.fault and frame.kind == FrameKind.CHECKPOINT:
                continue
            yield frame
            if frame.kind == FrameKind.SEAL and not frame.fault:
                return
            if frame.kind == FrameKind.UNREADABLE:
                following = find_frontier(file, header, after_place=frame.place)
                next_place = following and following.place
        place = next_place


def _loss(survey: Survey, frame: Frame | None, *, before_position: int, place: int = 0) -> Loss:
    fault = frame.fault if frame else "the file ends before its seal"
    return Loss(survey.name, frame.place if frame else place, survey.end_position, before_position, fault)
