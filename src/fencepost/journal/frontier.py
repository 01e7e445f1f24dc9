"""The durable frontier, written down: group frames and seals, and how recovery asks them.

The first frame of every commit group says: when I was written, everything before me in this segment was synced. A seal
says the same at the end of a segment. One group is in flight at a time, so after a crash at most the bytes behind the
last group frame may be torn. A bad frame with a good frontier frame behind it is therefore damage, not a torn tail.

A frontier frame names its own place and its segment's salt: a copy of it inside a payload proves nothing.
"""

import struct

from fencepost.journal.disk import DiskFile
from fencepost.journal.frames import (
    FRAME_HEADER_BYTES,
    SCAN_BLOCK_BYTES,
    Frame,
    FrameKind,
    checksum_seed,
    frame_header,
    read_frame,
)
from fencepost.journal.segment_header import SegmentHeader

_PAYLOAD = struct.Struct("<8sQQ")
_MAGIC = b"FRONTIER"
FRONTIER_FRAME_BYTES = FRAME_HEADER_BYTES + _PAYLOAD.size


def frontier_frame(kind: FrameKind, *, salt: int, seed: int, position: int, place: int) -> bytes:
    """`position` is that of the next entry, `place` the frame's own, which is the synced end of the segment."""
    payload = _PAYLOAD.pack(_MAGIC, salt, place)
    return frame_header(kind, 0, position, (payload,), len(payload), seed) + payload


def is_true_frontier(frame: Frame, *, salt: int) -> bool:
    """Whether a good frame is a frontier frame that stands where it says it stands."""
    if frame.kind not in (FrameKind.GROUP, FrameKind.SEAL) or len(frame.payload) != _PAYLOAD.size:
        return False
    return bool(_PAYLOAD.unpack(frame.payload) == (_MAGIC, salt, frame.place))


def find_frontier(file: DiskFile, header: SegmentHeader, *, after_place: int) -> Frame | None:
    """The next frontier frame behind `after_place` that tells the truth: in a segment whose commits did not wait for
    the disk only the seal does."""
    salt = header.salt
    needle = _MAGIC + salt.to_bytes(8, "little")
    seed, end_place, place = checksum_seed(salt), file.size_bytes(), after_place
    while place < end_place:
        block = file.pread(SCAN_BLOCK_BYTES + FRONTIER_FRAME_BYTES, place)
        found = block.find(needle)
        while found >= 0:
            frame_place = place + found - FRAME_HEADER_BYTES
            if frame_place > after_place:
                data = memoryview(file.pread(FRONTIER_FRAME_BYTES, frame_place))
                frame = read_frame(data, 0, seed=seed, place=frame_place)
                is_believed = frame.kind == FrameKind.SEAL or not header.is_unsynced
                if is_believed and not frame.fault and is_true_frontier(frame, salt=salt):
                    return frame
            found = block.find(needle, found + 1)
        place += SCAN_BLOCK_BYTES
    return None
