"""A frame: 28 bytes around each thing in a segment.

    frame checksum u32 | header checksum u32 | length u32 | kind u8 | 3 zeros | partition_ref u32 | position u64

Both checksums are CRC-32C that start from the segment's salt, so that no stale bytes of another file look like a
frame. The header's covers the four fields: a frame with a damaged payload still tells its partition and where the next
one begins. The frame's covers all that follows it, so one look is enough when nothing is wrong.
"""

import struct
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from crc32c import crc32c

from fencepost.journal.disk import DiskFile
from fencepost.types import Buffer

FRAME_HEADER_BYTES = 28
PAYLOAD_BYTES_MAX = 1 << 30
CHECKPOINT_REF = 0xFFFF_FFFF
"""The partition reference under which checkpoints are kept; their offset is their position."""

SCAN_BLOCK_BYTES = 4 << 20

_FIELDS = struct.Struct("<IBxxxIQ")
_CHECKSUM = struct.Struct("<I")
_HEADER = struct.Struct("<IIIBxxxIQ")
_FIELDS_START = 2 * _CHECKSUM.size
_LENGTH = struct.Struct("<I")
_ZEROS = bytes(FRAME_HEADER_BYTES)


class FrameKind(IntEnum):
    UNREADABLE = 0
    BATCH = 1
    CHECKPOINT = 2
    GROUP = 3
    """The first frame of a commit group: everything before it in this segment was synced when it was written."""
    SEAL = 4
    """The last frame of a segment, with the same promise."""


class Frame(NamedTuple):
    """`fault` says why a frame cannot be trusted; what its fields say then is what could still be read."""

    place: int
    kind: int
    partition_ref: int
    position: int
    payload: memoryview
    end_place: int
    fault: str = ""


def checksum_seed(salt: int) -> int:
    return int(crc32c(salt.to_bytes(8, "little")))


def frame_header(
    kind: int, partition_ref: int, position: int, pieces: Sequence[Buffer], size_bytes: int, seed: int
) -> bytes:
    fields = _FIELDS.pack(size_bytes, kind, partition_ref, position)
    header = _CHECKSUM.pack(crc32c(fields, seed)) + fields
    checksum = crc32c(header, seed)
    for piece in pieces:
        checksum = crc32c(piece, checksum)
    return _CHECKSUM.pack(checksum) + header


def read_frame(block: memoryview, offset: int, *, seed: int, place: int) -> Frame:
    """The frame at `offset` of a block that should hold all of it; `place` is where that is in the file."""
    if len(block) - offset < FRAME_HEADER_BYTES:
        return Frame(place, 0, 0, 0, block[:0], place, "ends in the middle of a frame header")
    checksum, _, length, kind, partition_ref, position = _HEADER.unpack_from(block, offset)
    end = offset + FRAME_HEADER_BYTES + length
    if end <= len(block) and checksum == crc32c(block[offset + _CHECKSUM.size : end], seed):
        payload = block[offset + FRAME_HEADER_BYTES : end]
        return Frame(place, kind, partition_ref, position, payload, place + FRAME_HEADER_BYTES + length)
    return _faulty_frame(block, offset, seed=seed, place=place)


def _faulty_frame(block: memoryview, offset: int, *, seed: int, place: int) -> Frame:
    header = block[offset : offset + FRAME_HEADER_BYTES]
    _, header_checksum, length, kind, partition_ref, position = _HEADER.unpack(header)
    if header_checksum != crc32c(header[_FIELDS_START:], seed):
        fault = "nothing was written here" if header == _ZEROS else "the frame header fails its checksum"
        return Frame(place, 0, 0, 0, block[:0], place, fault)
    end_place = place + FRAME_HEADER_BYTES + length
    payload = block[offset + FRAME_HEADER_BYTES : offset + FRAME_HEADER_BYTES + length]
    is_whole = len(payload) == length
    fault = "the payload fails its checksum" if is_whole else "ends in the middle of a frame"
    return Frame(place, kind, partition_ref, position, payload, end_place, fault)


def scan_frames(file: DiskFile, *, seed: int, place: int, end_place: int) -> Iterator[Frame]:
    """Frame after frame, read in large blocks, until `end_place` or a frame whose header is bad. A caller that goes
    on at a frame with a bad payload gets the one behind it next."""
    block, block_place = memoryview(b""), place
    readable_end = min(end_place, file.size_bytes())
    while place < end_place:
        offset = place - block_place
        left_bytes = len(block) - offset
        needed_bytes = FRAME_HEADER_BYTES
        if left_bytes >= FRAME_HEADER_BYTES:
            needed_bytes += _LENGTH.unpack_from(block, offset + _FIELDS_START)[0]
        if left_bytes < needed_bytes and block_place + len(block) < readable_end:
            wanted_bytes = min(max(SCAN_BLOCK_BYTES, needed_bytes), readable_end - place)
            if offset or wanted_bytes > len(block):
                block, block_place = memoryview(file.pread(wanted_bytes, place)), place
                continue
        frame = read_frame(block, offset, seed=seed, place=place)
        yield frame
        if frame.end_place == place:
            return
        place = frame.end_place
