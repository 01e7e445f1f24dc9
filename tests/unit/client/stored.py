"""Batches as a log stores them, for tests that read without a broker."""

from typing import Any

from fencepost.records.builder import build_batch
from fencepost.records.control import build_marker
from fencepost.records.header import stamp_in_place
from fencepost.records.record import Record


def batch(offset: int, count: int = 1, *, producer_id: int = -1, value: bytes | None = None, **how: Any) -> bytes:
    """Records whose values are their offsets; with a producer id they are of a transaction, unless `how` says."""
    records = [Record(offset=n, value=value or b"%d" % n) for n in range(offset, offset + count)]
    if producer_id >= 0:
        how = {"producer_epoch": 0, "base_sequence": 0, "is_transactional": True, **how}
    return build_batch(records, base_offset=offset, producer_id=producer_id, **how)


def marker(offset: int, producer_id: int = 1, *, is_commit: bool = True) -> bytes:
    identity = {"producer_id": producer_id, "producer_epoch": 0}
    built = bytearray(build_marker(**identity, is_commit=is_commit, coordinator_epoch=0, timestamp_ms=0))
    stamp_in_place(built, base_offset=offset, leader_epoch=0)
    return bytes(built)


def with_length(whole: bytes, length: int) -> bytes:
    """The same batch, which lies about its length."""
    return whole[:8] + length.to_bytes(4, "big", signed=True) + whole[12:]
