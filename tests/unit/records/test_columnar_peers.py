"""The columnar codec against the codecs of kafka-python and aiokafka, both ways.

Neither client brings libraries for snappy, lz4 and zstd along, so the batches compared are plain and gzip;
`test_python_clients` shows that the compression both codecs here share is the one that clients read.
"""

import warnings
from typing import Any

import aiokafka.record._crecords.default_records as aiokafka_c
import aiokafka.record.default_records as aiokafka_py
import numpy as np
import pyarrow as pa
import pytest

from fencepost.records.columnar import (
    RECORD_SCHEMA_WITH_HEADERS,
    ProducerStamp,
    decode_batches,
    encode_batches,
)
from fencepost.records.compression import Compression

with warnings.catch_warnings():
    # kafka-python reads its schemas through a function that Python 3.11 deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka.record.default_records as kafka_python

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
RNG = np.random.default_rng(23)
ROWS = [
    (
        None if number % 7 == 0 else RNG.bytes(number % 40),
        None if number % 5 == 0 else b"value " * int(RNG.integers(0, 60)),
        1_763_000_000_000 + int(RNG.integers(-(10**6), 10**6)),
        [(f"header {index}", None if index == 1 else RNG.bytes(index * 70)) for index in range(number % 4)],
    )
    for number in range(500)
]
TABLE = pa.record_batch(
    {
        "key": pa.array([row[0] for row in ROWS], pa.binary()),
        "value": pa.array([row[1] for row in ROWS], pa.binary()),
        "timestamp": pa.array([row[2] for row in ROWS], pa.int64()),
        "headers": pa.array([row[3] or None for row in ROWS], RECORD_SCHEMA_WITH_HEADERS.field("headers").type),
    }
)
PRODUCER = ProducerStamp(producer_id=123456, producer_epoch=123, base_sequence=9999, is_transactional=True)


def built_by(client: str, codec: Compression) -> bytes:
    builder: Any = BUILDERS[client](
        magic=2,
        compression_type=codec,
        is_transactional=1,
        producer_id=PRODUCER.producer_id,
        producer_epoch=PRODUCER.producer_epoch,
        base_sequence=PRODUCER.base_sequence,
        batch_size=10_000_000,
    )
    for offset, (key, value, timestamp, headers) in enumerate(ROWS):
        builder.append(offset, timestamp=timestamp, key=key, value=value, headers=headers)
    return bytes(builder.build())


@pytest.mark.parametrize("client", list(BUILDERS))
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_batch_of_a_client_decodes_to_the_columns_it_was_made_of(client: str, codec: Compression) -> None:
    decoded = decode_batches(built_by(client, codec)).records
    assert decoded.column("offset").to_pylist() == list(range(len(ROWS)))
    for name in ("key", "value", "headers"):
        assert decoded.column(name).equals(TABLE.column(name))
    assert decoded.column("timestamp").view(pa.int64()).equals(TABLE.column("timestamp"))


@pytest.mark.parametrize("client", list(BUILDERS))
def test_plain_batch_has_the_bytes_of_the_clients_batch_from_the_checksum_on(client: str) -> None:
    (batch,) = encode_batches(TABLE, default_timestamp_ms=0, producer=PRODUCER)
    assert bytes(batch[17:]) == built_by(client, Compression.NONE)[17:]


@pytest.mark.parametrize("client", list(READERS))
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_client_reads_a_batch_of_ours(client: str, codec: Compression) -> None:
    (batch,) = encode_batches(TABLE, default_timestamp_ms=0, compression=codec, producer=PRODUCER)
    read: Any = READERS[client](bytes(batch))
    assert read.validate_crc()
    assert read.compression_type == codec
    assert (read.producer_id, read.producer_epoch, read.base_sequence) == PRODUCER[:3]
    assert read.is_transactional
    assert (read.first_timestamp, read.max_timestamp) == (ROWS[0][2], max(row[2] for row in ROWS))
    records = [(record.key, record.value, record.timestamp, list(record.headers)) for record in read]
    assert records == ROWS
