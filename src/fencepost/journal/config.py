"""What a journal may be told: how large its segments are, and whether a commit waits for the disk."""

from dataclasses import dataclass

from fencepost.errors import invariant

SEGMENT_BYTES_MIN = 1024
SEGMENT_BYTES_MAX = 1 << 30
"""Places inside a segment are stored in 32 bits; a segment that holds one huge checkpoint may be twice this size."""


@dataclass(frozen=True, slots=True)
class JournalConfig:
    segment_bytes: int = 64 << 20
    syncs_commits: bool = True
    """False leaves it to the operating system when commits reach the disk. Segments say so about themselves, because
    recovery may then cut what a commit reported as done."""

    def __post_init__(self) -> None:
        invariant(
            SEGMENT_BYTES_MIN <= self.segment_bytes <= SEGMENT_BYTES_MAX,
            f"segment_bytes lies between {SEGMENT_BYTES_MIN} and {SEGMENT_BYTES_MAX}, not {self.segment_bytes}",
        )
