import pytest

from fencepost.records.builder import build_batch
from fencepost.records.header import (
    BatchHeader,
    TimestampType,
    check_crc,
    read_header,
    split_batches,
    stamp_in_place,
)
from fencepost.records.record import SEQUENCE_MAX, InvalidRecordBatch, Record

PLAIN = BatchHeader(base_offset=5, last_offset_delta=4, base_timestamp=100, max_timestamp=200, record_count=5)


def batch_of(*values: bytes, base_offset: int = 0) -> bytes:
    return build_batch([Record(timestamp_ms=1, value=value) for value in values], base_offset=base_offset)


def test_a_header_is_read_field_by_field_at_any_position() -> None:
    raw = bytes.fromhex(
        "0102030405060708"  # base offset
        "00000031"  # batch length: 49, an empty payload
        "0a0b0c0d"  # leader epoch
        "02"  # magic
        "fedcba98"  # checksum, unsigned
        "0034"  # attributes: zstd, transactional, control
        "00000009"  # last offset delta
        "0000018bcfe56800"  # base timestamp
        "0000018bcfe56807"  # max timestamp
        "00000000000003e8"  # producer id
        "0007"  # producer epoch
        "00000064"  # base sequence
        "0000000a"  # record count
    )
    header = read_header(b"abc" + raw, 3)
    assert header == BatchHeader(
        base_offset=0x0102030405060708,
        batch_length=49,
        leader_epoch=0x0A0B0C0D,
        magic=2,
        crc=0xFEDCBA98,
        attributes=0x34,
        last_offset_delta=9,
        base_timestamp=1_700_000_000_000,
        max_timestamp=1_700_000_000_007,
        producer_id=1000,
        producer_epoch=7,
        base_sequence=100,
        record_count=10,
    )
    assert header.size_bytes == 61
    assert header.last_offset == 0x0102030405060708 + 9
    assert header.last_sequence == 109
    assert header.compression == 4
    assert header.is_transactional
    assert header.is_control
    assert header.has_producer_id
    assert header.timestamp_type is TimestampType.CREATE_TIME
    assert header.delete_horizon_ms is None


def test_each_attribute_bit_has_its_own_meaning() -> None:
    assert PLAIN._replace(attributes=0x08).timestamp_type is TimestampType.LOG_APPEND_TIME
    assert PLAIN._replace(attributes=0x10).is_transactional
    assert not PLAIN._replace(attributes=~0x10).is_transactional
    assert PLAIN._replace(attributes=0x20).is_control
    assert not PLAIN._replace(attributes=~0x20).is_control
    assert PLAIN._replace(attributes=0x40).delete_horizon_ms == 100
    assert PLAIN._replace(attributes=~0x07).compression == 0


def test_the_last_sequence_wraps_and_is_absent_without_a_base_sequence() -> None:
    assert PLAIN.last_sequence == -1
    assert not PLAIN.has_producer_id
    assert PLAIN._replace(producer_id=0, base_sequence=SEQUENCE_MAX - 1).last_sequence == 2


def test_the_checksum_is_castagnoli_over_everything_from_the_attributes_on() -> None:
    # Computed bit by bit, so that the library that computes it in production is not its own judge.
    batch = batch_of(b"abc")
    crc = 0xFFFFFFFF
    for byte in batch[21:]:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    assert read_header(batch).crc == crc ^ 0xFFFFFFFF


def test_fewer_than_61_bytes_are_no_header() -> None:
    batch = batch_of(b"abc")
    for cut in (batch[:60], b"", memoryview(batch)[:10]):
        with pytest.raises(InvalidRecordBatch, match="takes 61"):
            read_header(cut)
        assert not check_crc(cut)
    with pytest.raises(InvalidRecordBatch, match="takes 61"):
        read_header(batch, len(batch) - 60)
    with pytest.raises(InvalidRecordBatch, match="takes 61"):
        read_header(batch, -1)


def test_stamping_in_place_writes_into_the_buffer_it_is_given() -> None:
    batch = bytearray(batch_of(b"abc"))
    stamp_in_place(batch, base_offset=7, leader_epoch=1)
    assert read_header(batch).base_offset == 7
    stamp_in_place(memoryview(batch), base_offset=8, leader_epoch=2)
    assert (read_header(batch).base_offset, read_header(batch).leader_epoch) == (8, 2)
    assert check_crc(batch)


def test_any_flipped_bit_behind_the_checksum_is_noticed() -> None:
    batch = batch_of(b"abc")
    for position in range(17, len(batch)):
        flipped = bytearray(batch)
        flipped[position] ^= 0x10
        assert not check_crc(flipped), position


def test_consecutive_batches_are_split_without_copying() -> None:
    batches = [batch_of(b"a"), batch_of(b"b" * 300, base_offset=1), batch_of(b"c", b"d", base_offset=2)]
    joined = b"".join(batches)
    pieces = list(split_batches(joined))
    assert [bytes(piece) for _, piece in pieces] == batches
    assert [header.base_offset for header, _ in pieces] == [0, 1, 2]
    assert all(piece.obj is joined for _, piece in pieces)
    assert list(split_batches(b"")) == []


@pytest.mark.parametrize("cut", [1, 60, 61, 62])
def test_a_batch_cut_short_is_refused_unless_the_reader_drops_it(cut: int) -> None:
    whole = batch_of(b"a")
    joined = whole + batch_of(b"bcdef")[:cut]
    with pytest.raises(InvalidRecordBatch):
        list(split_batches(joined))
    assert [bytes(piece) for _, piece in split_batches(joined, drop_partial_tail=True)] == [whole]


@pytest.mark.parametrize("length", [-(2**31), -12, -1, 0, 48])
def test_a_length_smaller_than_a_header_does_not_loop_for_ever(length: int) -> None:
    batch = bytearray(batch_of(b"a"))
    batch[8:12] = length.to_bytes(4, "big", signed=True)
    with pytest.raises(InvalidRecordBatch, match="less than a header"):
        list(split_batches(batch, drop_partial_tail=True))


def test_old_formats_are_not_split() -> None:
    batch = bytearray(batch_of(b"a"))
    batch[16] = 1
    with pytest.raises(InvalidRecordBatch, match="magic 1"):
        list(split_batches(batch))
