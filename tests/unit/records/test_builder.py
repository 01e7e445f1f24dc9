import pytest

from fencepost.errors import InvariantBroken
from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression
from fencepost.records.header import (
    HEADER_BYTES,
    TimestampType,
    check_crc,
    read_header,
)
from fencepost.records.reader import read_records
from fencepost.records.record import Record


def test_one_record_is_laid_out_byte_for_byte_as_the_format_says() -> None:
    record = Record(timestamp_ms=1000, key=b"k", value=b"vw", headers=(("h", b"x"), ("n", None)))
    batch = build_batch([record])
    assert batch[HEADER_BYTES:].hex(" ") == (
        "20"  # length 16
        " 00"  # attributes
        " 00 00"  # timestamp delta, offset delta
        " 02 6b"  # key
        " 04 76 77"  # value
        " 04"  # two headers
        " 02 68 02 78"  # h: x
        " 02 6e 01"  # n: null
    )


def test_a_null_key_and_value_are_length_minus_one_and_empty_ones_length_zero() -> None:
    assert build_batch([Record(timestamp_ms=0)])[HEADER_BYTES:].hex(" ") == "0c 00 00 00 01 01 00"
    assert build_batch([Record(timestamp_ms=0, key=b"", value=b"")])[HEADER_BYTES:].hex(" ") == "0c 00 00 00 00 00 00"


def test_a_batch_without_a_producer_says_so() -> None:
    header = read_header(build_batch([Record(timestamp_ms=5)]))
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert (header.attributes, header.leader_epoch, header.base_offset, header.magic) == (0, -1, 0, 2)


def test_offsets_count_from_the_base_offset_whatever_the_records_say() -> None:
    batch = build_batch([Record(offset=900, value=b"a"), Record(value=b"b")], base_offset=10)
    assert [record.offset for record in read_records(batch)] == [10, 11]


@pytest.mark.parametrize("compression", list(Compression))
def test_an_emptied_batch_is_a_header_alone(compression: Compression) -> None:
    batch = build_batch([], base_offset=10, last_offset_delta=4, compression=compression)
    header = read_header(batch)
    assert len(batch) == HEADER_BYTES
    assert (header.last_offset, header.record_count, header.compression) == (14, 0, Compression.NONE)
    assert check_crc(batch)
    assert read_records(batch) == []


def test_a_batch_without_records_that_cleaning_did_not_empty_is_our_bug() -> None:
    with pytest.raises(InvariantBroken):
        build_batch([])


def test_append_time_is_the_time_of_all_records() -> None:
    batch = build_batch([Record(timestamp_ms=5), Record(timestamp_ms=9)], append_time_ms=77)
    assert read_header(batch).timestamp_type is TimestampType.LOG_APPEND_TIME
    assert [record.timestamp_ms for record in read_records(batch)] == [77, 77]


def test_a_delete_horizon_takes_the_place_of_the_base_timestamp_and_no_timestamp_changes() -> None:
    batch = build_batch([Record(timestamp_ms=5), Record(timestamp_ms=9)], delete_horizon_ms=1000)
    header = read_header(batch)
    assert header.delete_horizon_ms == 1000
    assert header.max_timestamp == 9
    assert [record.timestamp_ms for record in read_records(batch)] == [5, 9]


def test_a_header_key_is_utf_8() -> None:
    batch = build_batch([Record(timestamp_ms=0, headers=(("größe", b""),))])
    assert "größe".encode() in batch
    assert read_records(batch)[0].headers == (("größe", b""),)
