import struct

import pytest

from fencepost.errors import InvariantBroken
from fencepost.records.builder import build_batch
from fencepost.records.control import ControlMarker, build_marker, read_marker
from fencepost.records.header import check_crc
from fencepost.records.record import InvalidRecordBatch, Record


def control_batch(key: bytes | None, value: bytes | None) -> bytes:
    record = Record(timestamp_ms=5, key=key, value=value)
    return build_batch([record], producer_id=7, producer_epoch=3, is_transactional=True, is_control=True)


def test_a_commit_marker_is_these_78_bytes() -> None:
    marker = build_marker(
        producer_id=4000, producer_epoch=3, is_commit=True, coordinator_epoch=9, timestamp_ms=1_700_000_000_000
    )
    assert len(marker) == 78
    assert marker.hex(" ") == bytes.fromhex(
        "0000000000000000"  # base offset, assigned on append
        "00000042"  # length 66
        "ffffffff"  # leader epoch, assigned on append
        "02"  # magic
        "3a976004"  # checksum
        "0030"  # transactional, control
        "00000000"  # last offset delta
        "0000018bcfe56800"  # base timestamp
        "0000018bcfe56800"  # max timestamp
        "0000000000000fa0"  # producer id
        "0003"  # producer epoch
        "ffffffff"  # no sequence
        "00000001"  # one record
        "20 00 00 00"  # length 16, attributes, deltas
        "08 0000 0001"  # key: version 0, type 1 = commit
        "0c 0000 00000009"  # value: version 0, coordinator epoch
        "00"  # no headers
    ).hex(" ")
    assert check_crc(marker)


def test_an_abort_marker_differs_from_a_commit_in_its_type_alone() -> None:
    commit, abort = (
        build_marker(producer_id=1, producer_epoch=0, is_commit=is_commit, coordinator_epoch=0, timestamp_ms=0)
        for is_commit in (True, False)
    )
    assert [at for at in range(61, 78) if commit[at] != abort[at]] == [69]
    assert (commit[69], abort[69]) == (1, 0)


def test_a_higher_version_is_read_as_far_as_it_is_known() -> None:
    marker = read_marker(control_batch(struct.pack(">hhq", 5, 1, 99), struct.pack(">hiq", 3, 12, 99)))
    assert marker == ControlMarker(
        producer_id=7, producer_epoch=3, is_commit=True, coordinator_epoch=12, timestamp_ms=5
    )


@pytest.mark.parametrize("control_type", [2, 3, 4, 5, 6, 7, 32767, -1])
def test_another_kind_of_control_record_says_nothing(control_type: int) -> None:
    assert read_marker(control_batch(struct.pack(">hh", 0, control_type), b"anything")) is None


def test_a_control_batch_whose_record_was_cleaned_away_says_nothing() -> None:
    assert read_marker(build_batch([], is_control=True, is_transactional=True, last_offset_delta=0)) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (struct.pack(">hh", -1, 1), struct.pack(">hi", 0, 1)),
        (struct.pack(">hh", 0, 1), struct.pack(">hi", -1, 1)),
        (None, struct.pack(">hi", 0, 1)),
        (b"\x00\x00\x00", struct.pack(">hi", 0, 1)),
        (struct.pack(">hh", 0, 1), None),
        (struct.pack(">hh", 0, 0), b"\x00\x00\x00\x00\x00"),
    ],
)
def test_a_negative_version_or_a_missing_field_is_corruption(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(InvalidRecordBatch, match="control record"):
        read_marker(control_batch(key, value))


def test_reading_a_data_batch_as_a_marker_is_our_bug() -> None:
    with pytest.raises(InvariantBroken):
        read_marker(build_batch([Record(timestamp_ms=0)]))
