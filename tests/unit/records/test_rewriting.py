import pytest

from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression
from fencepost.records.header import TimestampType, check_crc, read_header
from fencepost.records.reader import read_records
from fencepost.records.record import InvalidRecordBatch, Record
from fencepost.records.validation import recompress, with_append_time

RECORDS = [Record(40, 1000, b"k", b"v" * 100, (("h", None),)), Record(41, 1001, None, b"w" * 100)]


def batch_in(codec: Compression) -> bytes:
    return build_batch(
        RECORDS,
        compression=codec,
        base_offset=40,
        leader_epoch=2,
        producer_id=7,
        producer_epoch=1,
        base_sequence=5,
        is_transactional=True,
    )


@pytest.mark.parametrize("codec", list(Compression))
def test_append_time_changes_the_timestamps_and_nothing_else(codec: Compression) -> None:
    batch = batch_in(codec)
    appended = with_append_time(memoryview(batch), 5000)
    header = read_header(appended)
    assert check_crc(appended)
    assert header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert header == read_header(batch)._replace(attributes=header.attributes, max_timestamp=5000, crc=header.crc)
    assert header.attributes == read_header(batch).attributes | 0x08
    assert read_records(appended) == [record._replace(timestamp_ms=5000) for record in RECORDS]
    assert read_records(batch) == RECORDS


@pytest.mark.parametrize("source", list(Compression))
@pytest.mark.parametrize("target", list(Compression))
def test_recompression_changes_the_codec_and_no_record(source: Compression, target: Compression) -> None:
    batch = batch_in(source)
    recompressed = recompress(memoryview(batch), target)
    header = read_header(recompressed)
    assert check_crc(recompressed)
    assert header.compression == target
    assert header.size_bytes == len(recompressed)
    assert header._replace(crc=0, batch_length=0, attributes=0) == read_header(batch)._replace(
        crc=0, batch_length=0, attributes=0
    )
    assert header.is_transactional
    assert read_records(recompressed) == RECORDS
    if source == target:
        assert recompressed == batch


def test_recompression_keeps_append_time() -> None:
    appended = with_append_time(batch_in(Compression.GZIP), 5000)
    assert read_records(recompress(appended, Compression.ZSTD)) == read_records(appended)


def test_recompression_reads_up_to_the_limit_only() -> None:
    batch = build_batch([Record(timestamp_ms=0, value=bytes(100_000))], compression=Compression.GZIP)
    with pytest.raises(InvalidRecordBatch, match="limit"):
        recompress(batch, Compression.ZSTD, decompressed_bytes_max=1000)
