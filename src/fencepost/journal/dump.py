"""The journal from outside: every frame of every segment in order, for people, without owning the folder.

Nothing is changed and nothing is recovered, so this reads a damaged folder, and one that a broker is writing to: the
end of the last segment may then be a torn tail.
"""

from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

from fencepost.journal.disk import Disk
from fencepost.journal.frames import Frame, FrameKind
from fencepost.journal.frontier import find_frontier
from fencepost.journal.index_file import map_rows
from fencepost.journal.recovery import read_headers
from fencepost.journal.sealed_segment import read_fitting_head
from fencepost.journal.segment_header import SegmentHeader, segment_name
from fencepost.journal.segment_scan import SegmentScan, damage
from fencepost.journal.survey import readable_frames


class DumpedFrame(NamedTuple):
    segment: SegmentHeader
    frame: Frame

    @property
    def kind(self) -> str:
        return FrameKind(self.frame.kind).name


def dump_frames(disk: Disk) -> Iterator[DumpedFrame]:
    """A frame with a fault stands for everything up to the next good one."""
    for header in read_headers(disk):
        with closing(disk.open(segment_name(header.first_position))) as file:
            for frame in readable_frames(file, header):
                yield DumpedFrame(header, frame)


def verify_folder(disk: Disk) -> list[str]:
    """Everything that is wrong, one line each: damaged frames, segments and indexes. A torn tail is not wrong."""
    faults: list[str] = []
    headers = read_headers(disk)
    names = set(disk.list_names())
    for header in headers:
        name = segment_name(header.first_position)
        with closing(disk.open(name)) as file:
            scan = SegmentScan(file, header)
            is_torn_tail = header is headers[-1] and not find_frontier(file, header, after_place=scan.end_place)
            if not scan.is_sealed and (header.is_cleaned or not is_torn_tail):
                faults.append(str(damage(header, scan.bad_frame, scan.end_place)))
        head = read_fitting_head(disk, header, names)
        if head is not None:
            with closing(disk.open(name.replace(".journal", ".index"))) as index:
                if map_rows(index, head) is None:
                    faults.append(f"the index of {name} fails its checksum; it is rebuilt when the journal opens it")
    return faults
