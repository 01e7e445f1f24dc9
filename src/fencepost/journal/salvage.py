"""Salvage, on an operator's explicit request: make a damaged folder openable and say what was lost.

The whole journal is read. Damage below the newest readable checkpoint becomes a hole, as cleaning makes them: state
does not depend on it. At the first damage behind that checkpoint the journal is cut, because entries with one missing
among them add up to no state that ever was. Nothing is destroyed: files that change or go stay as `*.damaged`.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise

from fencepost.errors import CorruptLog
from fencepost.journal.disk import Disk
from fencepost.journal.frames import FrameKind
from fencepost.journal.rewriting import SegmentRewriter
from fencepost.journal.segment_header import (
    HEADER_BYTES,
    SegmentHeader,
    UnknownFormat,
    decode_segment_header,
    parse_name,
    segment_name,
)
from fencepost.journal.survey import Loss, Survey, readable_frames, survey_segment

DAMAGED_SUFFIX = ".damaged"
_COPY_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Salvage:
    """What to do: cut the journal behind `end_position` (None: nowhere), and close the holes before it."""

    surveys: list[Survey]
    losses: list[Loss]
    end_position: int | None
    unreadable: list[str] = field(default_factory=list)

    def report(self) -> list[str]:
        lines = [f"segment {name}: the header cannot be read, the file was set aside" for name in self.unreadable]
        lines += [str(loss) for loss in self.losses]
        if self.end_position is not None:
            lines.append(f"the journal was cut behind entry {self.end_position}, everything after it was set aside")
        return lines


def salvage_folder(disk: Disk, *, salt: Callable[[], int]) -> list[str]:
    """What was lost, one line each; nothing if nothing was wrong. The folder can be opened afterwards."""
    plan = _plan(disk)
    for name in plan.unreadable:
        disk.rename(name, _damaged_name(disk, name))
    for number, survey in reversed(list(enumerate(plan.surveys))):
        if plan.end_position is not None and survey.first_position > plan.end_position:
            disk.rename(survey.name, _damaged_name(disk, survey.name))
            continue
        following = plan.surveys[number + 1].first_position if number + 1 < len(plan.surveys) else None
        last_position = _covered(survey, following, plan.end_position)
        losses = [loss for loss in plan.losses if loss.segment == survey.name]
        if losses:
            _rewrite(disk, survey, losses, last_position=last_position, salt=salt())
    disk.sync_folder()
    return plan.report()


def _plan(disk: Disk) -> Salvage:
    headers, unreadable = _readable_headers(disk)
    surveys = []
    for header in headers:
        with closing(disk.open(segment_name(header.first_position))) as file:
            surveys.append(survey_segment(file, header, is_last=header is headers[-1]))
    losses = [loss for survey in surveys for loss in survey.losses] + _gaps(surveys)
    losses.sort(key=lambda loss: loss.after_position)
    newest_checkpoint = max((survey.newest_checkpoint for survey in surveys), default=0)
    end = next((s.after_position for s in losses if s.has_entries and s.before_position > newest_checkpoint), None)
    return Salvage(surveys, losses, end, unreadable)


def _readable_headers(disk: Disk) -> tuple[list[SegmentHeader], list[str]]:
    headers, unreadable = [], []
    covered_position = 0
    for name in disk.list_names():
        parsed = parse_name(name)
        if not parsed or parsed[1] != "journal":
            continue
        with closing(disk.open(name)) as file:
            try:
                header = decode_segment_header(file.pread(HEADER_BYTES, 0), name=name)
            except UnknownFormat:
                raise
            except CorruptLog:
                unreadable.append(name)
                continue
        if header.first_position > covered_position:
            headers.append(header)
            covered_position = max(covered_position, header.last_position)
    return headers, unreadable


def _gaps(surveys: Sequence[Survey]) -> list[Loss]:
    return [
        Loss(before.name, 0, before.end_position, after.first_position, "the segment behind this one is missing")
        for before, after in pairwise(surveys)
        if before.end_position + 1 != after.first_position
    ]


def _covered(survey: Survey, following: int | None, end_position: int | None) -> int:
    """The last position that a segment stands for once salvage is done."""
    last_position = survey.end_position if following is None else following - 1
    return last_position if end_position is None else min(last_position, end_position)


def _damaged_name(disk: Disk, name: str) -> str:
    """A name that no earlier salvage has used."""
    names = disk.list_names()
    candidates = (name + DAMAGED_SUFFIX + (f"-{number}" if number else "") for number in range(len(names) + 1))
    return next(candidate for candidate in candidates if candidate not in names)


def _rewrite(disk: Disk, survey: Survey, losses: list[Loss], *, last_position: int, salt: int) -> None:
    with closing(disk.open(survey.name)) as file:
        size_bytes = file.size_bytes()
        with closing(disk.create(_damaged_name(disk, survey.name), size_bytes=size_bytes)) as copy:
            for place in range(0, size_bytes, _COPY_BYTES):
                copy.pwritev([file.pread(_COPY_BYTES, place)], place)
            copy.datasync()
        rewriter = SegmentRewriter(disk, first_position=survey.first_position, salt=salt, size_bytes=size_bytes)
        for frame in readable_frames(file, survey.header):
            is_entry = frame.kind in (FrameKind.BATCH, FrameKind.CHECKPOINT)
            if is_entry and not frame.fault and frame.position <= last_position:
                rewriter.add(frame, frame.payload)
    lost_positions = [loss.before_position - 1 for loss in losses if loss.has_entries]
    holes = [position for position in lost_positions if position <= last_position]
    dropped_position = max([survey.header.dropped_position, *holes])
    rewriter.complete(last_position=last_position, dropped_position=dropped_position)
    rewriter.publish()
