"""Frames and the segment header: what was written is read back, and nothing else is believed."""

import pytest

from fencepost.errors import CorruptLog
from fencepost.journal.frames import (
    FRAME_HEADER_BYTES,
    SCAN_BLOCK_BYTES,
    FrameKind,
    checksum_seed,
    frame_header,
    read_frame,
    scan_frames,
)
from fencepost.journal.segment_header import (
    HEADER_BYTES,
    SegmentHeader,
    decode_segment_header,
    encode_segment_header,
    index_name,
    parse_name,
    segment_name,
)
from fencepost.lab.simulated_disk import SimulatedDisk, SimulatedFile

SEED = checksum_seed(12345)


def frame_bytes(payload: bytes, *, seed: int = SEED, position: int = 1) -> bytes:
    header = frame_header(
        FrameKind.BATCH, seed=seed, partition_ref=9, position=position, pieces=(payload,), size_bytes=len(payload)
    )
    return header + payload


def file_of(data: bytes) -> SimulatedFile:
    file = SimulatedDisk().create("file", size_bytes=len(data))
    file.pwritev([data], 0)
    return file


def test_a_frame_of_another_segment_is_not_believed() -> None:
    stale = frame_bytes(b"payload", seed=checksum_seed(54321))
    assert read_frame(memoryview(stale), 0, seed=SEED, place=0).fault == "the frame header fails its checksum"


def test_every_flipped_bit_of_a_frame_is_noticed() -> None:
    good = frame_bytes(b"payload")
    for bit in range(len(good) * 8):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        assert read_frame(memoryview(bad), 0, seed=SEED, place=0).fault, bit


def test_a_frame_with_a_damaged_payload_still_tells_its_partition_and_its_end() -> None:
    bad = frame_bytes(b"payload")[:-1] + b"?"
    frame = read_frame(memoryview(bad), 0, seed=SEED, place=0)
    assert (frame.fault, frame.partition_ref, frame.end_place) == ("the payload fails its checksum", 9, len(bad))


def test_a_payload_under_the_header_of_another_frame_is_noticed() -> None:
    one, other = frame_bytes(b"one", position=1), frame_bytes(b"two", position=2)
    assert read_frame(memoryview(one[:FRAME_HEADER_BYTES] + other[-3:]), 0, seed=SEED, place=0).fault


def test_a_scan_reads_frames_larger_and_smaller_than_a_block() -> None:
    payloads = [b"a", bytes(SCAN_BLOCK_BYTES + 5), b"", b"b" * 70_000, bytes(SCAN_BLOCK_BYTES - 100), b"c"]
    data = b"".join(frame_bytes(payload, position=number) for number, payload in enumerate(payloads))
    frames = list(scan_frames(file_of(data + bytes(50)), seed=SEED, place=0, end_place=len(data) + 50))
    assert [bytes(frame.payload) for frame in frames[:-1]] == payloads
    assert (frames[-1].fault, frames[-1].place) == ("nothing was written here", len(data))


@pytest.mark.parametrize("missing_bytes", [1, 5, 12, 30])
def test_a_scan_of_a_file_that_ends_too_early_ends_with_a_fault(missing_bytes: int) -> None:
    data = frame_bytes(b"first") + frame_bytes(b"second")
    file = file_of(data[:-missing_bytes])
    first, second = scan_frames(file, seed=SEED, place=0, end_place=len(data))
    assert not first.fault
    assert "ends in the middle" in second.fault


def test_a_segment_header_is_read_back() -> None:
    header = SegmentHeader(
        salt=2**64 - 1,
        first_position=2**63,
        is_cleaned=True,
        is_unsynced=True,
        last_position=2**63 + 5,
        dropped_position=4,
    )
    data = encode_segment_header(header)
    assert len(data) == HEADER_BYTES
    assert decode_segment_header(data, name=segment_name(2**63)) == header


def test_every_flipped_bit_of_a_segment_header_is_noticed() -> None:
    good = encode_segment_header(SegmentHeader(salt=1, first_position=1))
    for bit in range(HEADER_BYTES * 8):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptLog, match=segment_name(1)):
            decode_segment_header(bad, name=segment_name(1))


def test_a_segment_under_another_name_is_refused() -> None:
    with pytest.raises(CorruptLog, match="give it its own name back"):
        decode_segment_header(encode_segment_header(SegmentHeader(salt=1, first_position=1)), name=segment_name(2))


def test_names_tell_position_and_kind() -> None:
    assert parse_name(segment_name(42)) == (42, "journal")
    assert parse_name(index_name(42)) == (42, "index")
    for name in ("42.journal", segment_name(42) + ".tmp", segment_name(42) + ".damaged", "owner.lock"):
        assert parse_name(name) is None
