"""The first bytes of a segment file, and the names of the files that belong to a segment.

A segment is named after the position of its first entry. Its name exists only once its header and first commit group
are synced, so a named segment without a good header is damaged, never just young. A cleaned segment covers a range of
positions (`last_position`), whatever is left of them, and says up to where cleaning has dropped or rewritten entries.
"""

import re
import struct
from dataclasses import dataclass

from crc32c import crc32c

from fencepost.errors import CorruptLog
from fencepost.types import Buffer

FORMAT_VERSION = 1
HEADER_BYTES = 64
TEMPORARY_SUFFIX = ".tmp"
"""A file with this suffix holds nothing that anybody relies on; opening the journal removes it."""

_MAGIC = b"FENCEPST"
_FIELDS = struct.Struct("<8sHHIQQQQ")
_CHECKSUM = struct.Struct("<I")
_CHECKSUM_START = HEADER_BYTES - _CHECKSUM.size
_IS_CLEANED = 1
_IS_UNSYNCED = 2
_NAME = re.compile(r"(\d{20})\.(journal|index)")


class UnknownFormat(CorruptLog):
    """A segment of another version of the storage format: whole, but not for us to read."""


@dataclass(frozen=True, slots=True)
class SegmentHeader:
    salt: int
    first_position: int
    is_cleaned: bool = False
    is_unsynced: bool = False
    """Its commits did not wait for the disk: its group frames promise nothing."""

    last_position: int = 0
    """Of a cleaned segment: the last position that it covers."""

    dropped_position: int = 0
    """Of a cleaned segment: the last position whose entry cleaning dropped or rewrote; 0 if there is none."""


def segment_name(first_position: int) -> str:
    return f"{first_position:020d}.journal"


def index_name(first_position: int) -> str:
    return f"{first_position:020d}.index"


def parse_name(name: str) -> tuple[int, str] | None:
    """The first position and the kind ("journal" or "index") that a file name tells, or None if it is not ours."""
    match = _NAME.fullmatch(name)
    return (int(match[1]), match[2]) if match else None


def encode_segment_header(header: SegmentHeader) -> bytes:
    flags = header.is_cleaned * _IS_CLEANED | header.is_unsynced * _IS_UNSYNCED
    fields = _FIELDS.pack(
        _MAGIC,
        FORMAT_VERSION,
        flags,
        HEADER_BYTES,
        header.salt,
        header.first_position,
        header.last_position,
        header.dropped_position,
    )
    padded = fields.ljust(_CHECKSUM_START, b"\0")
    return padded + _CHECKSUM.pack(crc32c(padded))


def decode_segment_header(data: Buffer, *, name: str) -> SegmentHeader:
    if len(data) < HEADER_BYTES or bytes(data[: len(_MAGIC)]) != _MAGIC:
        raise CorruptLog(f"{name}, byte 0: not a segment of a fencepost journal; restore the file from a backup")
    _, version, flags, _, salt, first_position, last_position, dropped_position = _FIELDS.unpack_from(data)
    if version != FORMAT_VERSION:
        raise UnknownFormat(
            f"{name}: written in storage format {version}; this version of fencepost reads format {FORMAT_VERSION} only"
        )
    if _CHECKSUM.unpack_from(data, _CHECKSUM_START)[0] != crc32c(data[:_CHECKSUM_START]):
        raise CorruptLog(f"{name}, byte 0: the segment header fails its checksum; restore the file from a backup")
    if name != segment_name(first_position):
        raise CorruptLog(f"{name}: holds the segment {segment_name(first_position)}; give it its own name back")
    return SegmentHeader(
        salt=salt,
        first_position=first_position,
        is_cleaned=bool(flags & _IS_CLEANED),
        is_unsynced=bool(flags & _IS_UNSYNCED),
        last_position=last_position,
        dropped_position=dropped_position,
    )
