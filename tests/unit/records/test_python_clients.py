"""Our batches against the codecs of kafka-python and aiokafka, both ways.

Neither client brings libraries for snappy, lz4 and zstd along. Where those are missing, Arrow stands in for the bare
codec, and what is compared is everything around it: their record layout, attributes and xerial framing. Foreign
implementations of the codecs themselves are librdkafka's, in tests/interop.
"""

import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import aiokafka.codec
import aiokafka.record._crecords.default_records as aiokafka_c
import aiokafka.record.default_records as aiokafka_py
import pyarrow as pa
import pytest

from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression, compress, decompress
from fencepost.records.control import build_marker
from fencepost.records.header import check_crc, read_header
from fencepost.records.reader import read_records
from fencepost.records.record import Record

with warnings.catch_warnings():
    # kafka-python reads its schemas through a function that Python 3.11 deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka.codec
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


def arrow_snappy_compress(data: Any) -> bytes:
    return bytes(pa.Codec("snappy").compress(data, asbytes=True))


def arrow_snappy_decompress(data: Any) -> bytes:
    return decompress(data, Compression.SNAPPY)


def arrow_frame(codec: Compression) -> tuple[Callable[[Any], bytes], Callable[[Any], bytes]]:
    def encode(payload: Any) -> bytes:
        return compress(bytes(payload), codec)

    def decode(payload: Any) -> bytes:
        return decompress(bytes(payload), codec)

    return encode, decode


@pytest.fixture(autouse=True)
def stand_ins_for_missing_codecs(monkeypatch: pytest.MonkeyPatch) -> None:
    if not kafka.codec.has_snappy():
        snappy = SimpleNamespace(compress=arrow_snappy_compress, decompress=arrow_snappy_decompress)
        monkeypatch.setattr(kafka.codec, "snappy", snappy)
    if not aiokafka.codec.has_snappy():
        raw = SimpleNamespace(compress_raw=arrow_snappy_compress, decompress_raw=arrow_snappy_decompress)
        monkeypatch.setattr(aiokafka.codec, "cramjam", SimpleNamespace(snappy=raw))
        for codec in (Compression.LZ4, Compression.ZSTD):
            encode, decode = arrow_frame(codec)
            for module in (aiokafka_py, aiokafka_c):
                monkeypatch.setattr(module, f"{codec.name.lower()}_encode", encode)
                monkeypatch.setattr(module, f"{codec.name.lower()}_decode", decode)
    for codec, is_there in ((Compression.LZ4, kafka.codec.has_lz4()), (Compression.ZSTD, kafka.codec.has_zstd())):
        if not is_there:
            encode, decode = arrow_frame(codec)
            monkeypatch.setattr(kafka.codec, f"has_{codec.name.lower()}", lambda: True)
            monkeypatch.setattr(kafka_python, f"{codec.name.lower()}_encode", encode)
            monkeypatch.setattr(kafka_python, f"{codec.name.lower()}_decode", decode)


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
