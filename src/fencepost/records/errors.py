"""What this room raises.

`InvalidRecordBatch` says that bytes given to us are not a record batch that can be read: cut short, fields that
contradict each other, a payload that its codec refuses, or one that would grow past the limit. Who gave the
bytes decides what it means: from a client it becomes a `Refusal`, from the disk a `CorruptLog`.
"""

from fencepost.errors import FencepostError


class InvalidRecordBatch(FencepostError):  # noqa: N818 - it names a state of the bytes, as `CorruptLog` one of the disk
    """Bytes that are not a readable record batch of format 2."""
