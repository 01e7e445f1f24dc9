"""Our batches against the codecs of kafka-python and aiokafka, both ways.

Neither client brings libraries for snappy, lz4 and zstd along: those of the `dev` extra are used.
"""

import warnings

import aiokafka.record._crecords.default_records as aiokafka_c
import aiokafka.record.default_records as aiokafka_py
import pytest

from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression
from fencepost.records.control import build_marker
from fencepost.records.header import check_crc, read_header
from fencepost.records.reader import read_records
from fencepost.records.record import Record

with warnings.catch_warnings():
    # kafka-python reads its schemas through a function that Python 3.11 deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka.record.default_records as kafka_python

RECORDS = [
    Record(0, 1_700_000_000_000, b"key", b"value " * 20_000, (("a", b"1"), ("ä", None), ("", b""))),
    Record(1, 1_699_999_999_000, None, None),
    Record(2, 1_700_000_000_500, b"", b""),
    *(Record(offset, 1_700_000_000_500 + 70 * offset, b"k%d" % offset, bytes(offset)) for offset in range(3, 200)),
]
BUILDERS = {
    "kafka-python": kafka_python.DefaultRecordBatchBuilder,
    "aiokafka": aiokafka_py._DefaultRecordBatchBuilderPy,
    "aiokafka in C": aiokafka_c.DefaultRecordBatchBuilder,
}
READERS = {
    "kafka-python": kafka_python.DefaultRecordBatch,
    "aiokafka": aiokafka_py._DefaultRecordBatchPy,
    "aiokafka in C": aiokafka_c.DefaultRecordBatch,
}


@pytest.mark.parametrize("client", list(BUILDERS))
@pytest.mark.parametrize("codec", list(Compression))
def test_a_batch_of_the_client_is_read_by_us(client: str, codec: Compression) -> None:
    builder = BUILDERS[client](
        magic=2,
        compression_type=codec,
        is_transactional=1,
        producer_id=123456,
        producer_epoch=123,
        base_sequence=9999,
        batch_size=10_000_000,
    )
    for record in RECORDS:
        builder.append(
            record.offset,
            timestamp=record.timestamp_ms,
            key=record.key,
            value=record.value,
            headers=list(record.headers),
        )
    batch = bytes(builder.build())
    header = read_header(batch)
    assert check_crc(batch)
    assert read_records(batch) == RECORDS
    assert header.compression == codec
    assert header.is_transactional
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (123456, 123, 9999)
    if codec == Compression.NONE:
        ours = build_batch(
            RECORDS, is_transactional=True, producer_id=123456, producer_epoch=123, base_sequence=9999, leader_epoch=0
        )
        assert ours[17:] == batch[17:]


@pytest.mark.parametrize("client", list(READERS))
@pytest.mark.parametrize("codec", list(Compression))
def test_a_batch_of_ours_is_read_by_the_client(client: str, codec: Compression) -> None:
    batch = READERS[client](
        build_batch(
            RECORDS,
            compression=codec,
            base_offset=1000,
            is_transactional=True,
            producer_id=123456,
            producer_epoch=123,
            base_sequence=9999,
        )
    )
    assert batch.validate_crc()
    assert batch.compression_type == codec
    assert batch.is_transactional
    assert not batch.is_control_batch
    assert batch.next_offset == 1000 + len(RECORDS)
    read = [Record(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in batch]
    assert read == [record._replace(offset=record.offset + 1000) for record in RECORDS]


@pytest.mark.parametrize("client", list(READERS))
def test_append_time_is_read_by_the_client(client: str) -> None:
    batch = READERS[client](build_batch(RECORDS, append_time_ms=42))
    assert {(record.timestamp, record.timestamp_type) for record in batch} == {(42, 1)}


@pytest.mark.parametrize("client", list(READERS))
@pytest.mark.parametrize("is_commit", [True, False])
def test_a_marker_of_ours_is_read_by_the_client(client: str, is_commit: bool) -> None:
    batch = READERS[client](
        build_marker(producer_id=5, producer_epoch=2, is_commit=is_commit, coordinator_epoch=1, timestamp_ms=99)
    )
    assert batch.validate_crc()
    assert batch.is_control_batch
    assert batch.is_transactional
    (record,) = list(batch)
    assert record.key == (b"\x00\x00\x00\x01" if is_commit else b"\x00\x00\x00\x00")
    if client == "kafka-python":
        assert (record.commit, record.abort) == (is_commit, not is_commit)
