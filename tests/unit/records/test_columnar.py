"""The columnar codec: what goes into batches, how rows are cut into them, what comes out."""

import struct
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from fencepost.records.builder import build_batch
from fencepost.records.columnar.arrow import UnsupportedColumn, record_columns
from fencepost.records.columnar.decode import RECORD_SCHEMA, RECORD_SCHEMA_WITH_HEADERS, decode_batches
from fencepost.records.columnar.encode import (
    BATCH_BYTES_MAX,
    ProducerStamp,
    RecordTooLarge,
    encode_batches,
    encode_columns,
    stamp_producer,
)
from fencepost.records.compression import Compression
from fencepost.records.control import build_marker
from fencepost.records.header import HEADER_BYTES, check_crc, read_header, stamp_in_place, write_header
from fencepost.records.reader import read_records
from fencepost.records.record import Record
from fencepost.types import OffsetRange

NO_PRODUCER = ProducerStamp()
HEADERS_TYPE = RECORD_SCHEMA_WITH_HEADERS.field("headers").type
KEYLESS_HEADERS = pa.array([[], [(None, b"v")]], pa.list_(pa.struct({"key": pa.string(), "value": pa.binary()})))


def rows_of(table: pa.RecordBatch) -> list[Record]:
    timestamps = table.column("timestamp").view(pa.int64())
    return [
        Record(
            row["offset"],
            timestamp.as_py(),
            row["key"],
            row["value"],
            tuple((header["key"], header["value"]) for header in row["headers"] or ()),
        )
        for row, timestamp in zip(table.drop_columns(["timestamp"]).to_pylist(), timestamps, strict=True)
    ]


def at_offset(batch: bytearray, base_offset: int) -> bytearray:
    stamp_in_place(batch, base_offset=base_offset, leader_epoch=0)
    return batch


def batch_of(
    values: list[bytes], base_offset: int, producer: ProducerStamp = NO_PRODUCER, **options: object
) -> bytearray:
    table = pa.record_batch({"value": pa.array(values, pa.binary())})
    (batch,) = encode_batches(table, default_timestamp_ms=7, **options)
    stamp_producer(batch, producer)
    return at_offset(bytearray(batch), base_offset)


EVERYTHING = pa.record_batch(
    {
        "key": pa.array([b"a", None, b"", b"k" * 300], pa.binary()),
        "value": pa.array([None, b"v" * 70_000, b"", b"\x00\xff"], pa.binary()),
        "timestamp": pa.array([1_763_000_000_123, 1_763_000_000_122, None, 0], pa.int64()),
        "headers": pa.array(
            [None, [], [("h", b"1"), ("é" * 40, None), ("", b"")], [("i", b"x" * 200)] * 70], HEADERS_TYPE
        ),
    }
)
EVERYTHING_AS_RECORDS = [
    Record(0, 1_763_000_000_123, b"a", None, ()),
    Record(1, 1_763_000_000_122, None, b"v" * 70_000, ()),
    Record(2, 99, b"", b"", (("h", b"1"), ("é" * 40, None), ("", b""))),
    Record(3, 0, b"k" * 300, b"\x00\xff", (("i", b"x" * 200),) * 70),
]


@pytest.mark.parametrize("codec", list(Compression))
def test_records_survive_every_codec(codec: Compression) -> None:
    (batch,) = encode_batches(EVERYTHING, default_timestamp_ms=99, compression=codec)
    assert read_header(batch).compression == codec
    assert check_crc(batch)
    assert read_records(batch) == EVERYTHING_AS_RECORDS
    decoded = decode_batches(batch)
    assert rows_of(decoded.records) == EVERYTHING_AS_RECORDS
    assert decoded.records.schema == RECORD_SCHEMA_WITH_HEADERS
    decoded.records.validate(full=True)


def test_payload_that_does_not_shrink_stays_plain_so_that_the_limit_holds() -> None:
    noise = np.random.default_rng(5).bytes(10_000)
    table = pa.record_batch({"value": [noise]})
    (plain,) = encode_batches(table, default_timestamp_ms=0)
    for codec in Compression:
        (batch,) = encode_batches(table, default_timestamp_ms=0, compression=codec, batch_bytes_max=len(plain))
        assert batch == plain


@pytest.mark.parametrize(
    "array_type",
    [
        pa.binary(),
        pa.large_binary(),
        pa.string(),
        pa.large_string(),
        pa.binary_view(),
        pa.dictionary(pa.int8(), pa.string()),
    ],
)
def test_every_layout_of_bytes_gives_the_same_batch(array_type: pa.DataType) -> None:
    words = ["", "one", None, "twenty-two", "x" * 1000]
    table = pa.record_batch(
        {"key": pa.array(words, pa.string()).cast(array_type), "value": pa.array(words, pa.binary())}
    )
    (batch,) = encode_batches(table, default_timestamp_ms=0)
    assert [record.key for record in read_records(batch)] == [record.value for record in read_records(batch)]
    assert [record.key for record in read_records(batch)] == [
        word.encode() if word is not None else None for word in words
    ]


def test_slices_inside_nested_header_arrays_are_followed() -> None:
    entries = pa.array([("no", b"0"), ("a", b"1"), ("b", None), ("c", b"3"), ("no", b"9")], HEADERS_TYPE.value_type)
    lists = pa.ListArray.from_arrays([0, 0, 1, 3], entries.slice(1, 3)).slice(1)
    table = pa.record_batch({"value": pa.array([b"x", b"y"]), "headers": lists})
    (batch,) = encode_batches(table, default_timestamp_ms=0)
    assert [record.headers for record in read_records(batch)] == [(("a", b"1"),), (("b", None), ("c", b"3"))]


def test_bytes_under_a_null_are_not_written() -> None:
    offsets, data = np.array([0, 3, 6], np.int32), b"yesno!"
    values = pa.Array.from_buffers(
        pa.binary(), 2, [pa.py_buffer(b"\x01"), pa.py_buffer(offsets), pa.py_buffer(data)], null_count=1
    )
    (batch,) = encode_batches(pa.record_batch({"value": values}), default_timestamp_ms=0)
    assert [record.value for record in read_records(batch)] == [b"yes", None]


def test_chunks_of_a_table_do_not_end_batches() -> None:
    one_row = pa.table({"value": pa.array([b"x"]), "key": pa.array(["k"])})
    batches = encode_batches(pa.concat_tables([one_row] * 50), default_timestamp_ms=3)
    assert [read_header(batch).record_count for batch in batches] == [50]


@pytest.mark.parametrize(
    ("timestamps", "milliseconds"),
    [
        (pa.array([1, -1], pa.timestamp("s")), [1000, -1000]),
        (pa.array([1, -1], pa.timestamp("ms", "UTC")), [1, -1]),
        (pa.array([1999, -1], pa.timestamp("us", "UTC")), [1, -1]),
        (pa.array([1_999_999, -1], pa.timestamp("ns")), [1, -1]),
        (pa.array([2**63 - 1, -(2**63)], pa.int64()), [2**63 - 1, -(2**63)]),
        (pa.array([None, None], pa.int64()), [99, 99]),
    ],
)
def test_timestamps_of_every_unit_become_milliseconds(timestamps: pa.Array, milliseconds: list[int]) -> None:
    table = pa.record_batch({"value": [b"a", b"b"], "timestamp": timestamps})
    (batch,) = encode_batches(table, default_timestamp_ms=99)
    decoded = decode_batches(batch).records
    assert decoded.column("timestamp").view(pa.int64()).to_pylist() == milliseconds
    assert (read_header(batch).base_timestamp, read_header(batch).max_timestamp) == (milliseconds[0], max(milliseconds))


def test_the_sequence_of_the_next_batch_goes_on_and_wraps() -> None:
    stamp = ProducerStamp(producer_id=1, producer_epoch=0, base_sequence=2**31 - 5)
    assert [stamp.after(count).base_sequence for count in (4, 5, 8)] == [2**31 - 1, 0, 3]
    assert ProducerStamp().after(4) == ProducerStamp()


def test_record_that_fits_no_batch_is_named_by_row_and_key() -> None:
    table = pa.table({"key": ["a", "b", "the-culprit", None], "value": [b"1", b"2", b"x" * 500, b"4"]})
    with pytest.raises(RecordTooLarge, match=r"row 2 with key b'the-culprit' .* limit is 300") as caught:
        encode_batches(table, default_timestamp_ms=0, batch_bytes_max=300)
    error = caught.value
    assert (error.row, error.key) == (2, b"the-culprit")
    only_it = encode_batches(table.slice(2, 1), default_timestamp_ms=0, batch_bytes_max=error.size_bytes)
    assert len(only_it[0]) == error.size_bytes


def test_no_rows_make_no_batches() -> None:
    schema = pa.schema({"key": pa.binary(), "value": pa.binary()})
    assert encode_batches(schema.empty_table(), default_timestamp_ms=0) == []
    assert encode_batches(pa.record_batch({"value": pa.array([], pa.binary())}), default_timestamp_ms=0) == []


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ({"key": [b"x"]}, "no column 'value'"),
        ({"value": [1]}, "column 'value' is int64"),
        ({"value": [b"x"], "key": [1.5]}, "column 'key' is double"),
        ({"value": [b"x"], "timestamp": ["today"]}, "column 'timestamp' is string"),
        ({"value": [b"x"], "headers": [["a"]]}, "column 'headers' is list"),
        ({"value": [b"x"], "headers": ["a"]}, "column 'headers' is string"),
        ({"value": [b"x", b"y"], "headers": KEYLESS_HEADERS}, "row 1 has a header without a key"),
    ],
)  # fmt: skip
def test_column_that_is_no_part_of_a_record_is_refused(table: dict[str, object], complaint: str) -> None:
    with pytest.raises(UnsupportedColumn, match=complaint):
        encode_batches(pa.record_batch(table), default_timestamp_ms=0)


def test_offsets_outside_the_data_of_a_column_are_refused() -> None:
    for offsets in ([0, 900, 2], [0, -5, 2]):  # Arrow itself looks at the last one only
        buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"abc")]
        values = pa.Array.from_buffers(pa.binary(), 2, buffers)
        with pytest.raises(UnsupportedColumn, match="outside its data"):
            encode_batches(pa.record_batch([values], ["value"]), default_timestamp_ms=0)


def test_finished_batch_can_be_given_to_another_producer() -> None:
    (batch,) = encode_batches(EVERYTHING, default_timestamp_ms=1, compression=Compression.ZSTD)
    plain = bytes(batch)
    stamp_producer(batch, ProducerStamp(producer_id=5, producer_epoch=1, base_sequence=40, is_transactional=True))
    header = read_header(batch)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (5, 1, 40)
    assert header.is_transactional
    assert check_crc(batch)
    stamp_producer(batch, ProducerStamp())
    assert batch == plain


def test_decoding_leaves_out_control_batches_and_counts_their_offsets() -> None:
    marker = bytearray(
        build_marker(producer_id=1, producer_epoch=0, is_commit=True, coordinator_epoch=0, timestamp_ms=1)
    )
    fetched = batch_of([b"a", b"b"], 10) + at_offset(marker, 12) + batch_of([b"c"], 13) + at_offset(marker[:], 14)
    decoded = decode_batches(memoryview(fetched))
    assert decoded.records.column("value").to_pylist() == [b"a", b"b", b"c"]
    assert decoded.records.column("offset").to_pylist() == [10, 11, 13]
    assert (decoded.next_offset, decoded.consumed_bytes) == (15, len(fetched))


def test_reader_that_skips_aborted_batches_sees_every_batch_in_order() -> None:
    marker = build_marker(producer_id=7, producer_epoch=0, is_commit=False, coordinator_epoch=0, timestamp_ms=1)
    aborted = ProducerStamp(producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    fetched = b"".join(
        (
            batch_of([b"gone"], 0, producer=aborted, compression=Compression.GZIP),
            batch_of([b"kept"], 1),
            at_offset(bytearray(marker), 2),
            batch_of([b"kept too"], 3, producer=aborted._replace(base_sequence=1)),
        )
    )
    open_aborted = {7}
    seen = []

    def is_aborted(header: object, batch: memoryview) -> bool:
        header = read_header(batch)
        seen.append(header.base_offset)
        if header.is_control:
            open_aborted.discard(header.producer_id)
        return header.producer_id in open_aborted

    decoded = decode_batches(fetched, skip_batch=is_aborted)
    assert seen == [0, 1, 2, 3]
    assert decoded.records.column("value").to_pylist() == [b"kept", b"kept too"]
    assert decoded.next_offset == 4


def test_last_batch_that_is_cut_short_is_left_for_the_next_fetch() -> None:
    first, second = batch_of([b"a"], 0), batch_of([b"b"], 1)
    for cut in range(1, len(second)):
        decoded = decode_batches(first + second[:cut])
        assert decoded.records.column("value").to_pylist() == [b"a"]
        assert (decoded.next_offset, decoded.consumed_bytes) == (1, len(first))
    assert decode_batches(b"").records.num_rows == 0


def test_decoding_stops_when_one_array_has_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.records.columnar.decode.PAYLOAD_BYTES_ENOUGH", 100)
    fetched = b"".join(batch_of([b"x" * 60], offset) for offset in range(5))
    values, offset = [], 0
    while fetched:
        decoded = decode_batches(fetched, offsets=OffsetRange(offset, 2**62))
        assert decoded.records.num_rows <= 2
        values += decoded.records.column("offset").to_pylist()
        fetched, offset = fetched[decoded.consumed_bytes :], decoded.next_offset
    assert values == [0, 1, 2, 3, 4]


def test_append_time_batch_gives_every_record_the_brokers_time() -> None:
    records = [Record(timestamp_ms=timestamp, value=b"x") for timestamp in (5, 9, 1)]
    fetched = build_batch(records, append_time_ms=777) + build_batch(records, base_offset=3)
    decoded = decode_batches(fetched).records
    assert decoded.column("timestamp").view(pa.int64()).to_pylist() == [777, 777, 777, 5, 9, 1]
    assert decoded.column("timestampType").to_pylist() == [1, 1, 1, 0, 0, 0]


def test_batch_that_cleaning_thinned_out_keeps_its_gaps() -> None:
    records = [Record(offset=offset, timestamp_ms=1, value=b"x") for offset in (41, 47)]
    emptied = build_batch([], base_offset=50, last_offset_delta=9)
    fetched = build_batch(records, base_offset=40, last_offset_delta=9, delete_horizon_ms=5_000) + emptied
    decoded = decode_batches(fetched)
    assert decoded.records.column("offset").to_pylist() == [41, 47]
    assert decoded.records.column("timestamp").view(pa.int64()).to_pylist() == [1, 1]
    assert decoded.next_offset == 60


def test_headers_are_left_out_when_not_wanted() -> None:
    (batch,) = encode_batches(EVERYTHING, default_timestamp_ms=0)
    decoded = decode_batches(batch, with_headers=False).records
    assert decoded.schema == RECORD_SCHEMA
    assert decoded.num_rows == 4


def test_header_key_that_is_not_utf8_is_shown_as_java_shows_it() -> None:
    batch = build_batch([Record(timestamp_ms=0, value=b"x", headers=(("caf\udce9", b"1"),))])
    (headers,) = decode_batches(batch).records.column("headers").to_pylist()
    assert headers == [{"key": "caf\ufffd", "value": b"1"}]


def test_decoded_columns_do_not_change_with_the_buffer_they_came_from() -> None:
    fetched = batch_of([b"stable"], 0)
    records = decode_batches(fetched).records
    fetched[:] = bytes(len(fetched))
    assert records.column("value").to_pylist() == [b"stable"]


def test_decoded_columns_encode_to_the_same_batch_again() -> None:
    (batch,) = encode_batches(EVERYTHING, default_timestamp_ms=99)
    decoded = decode_batches(batch).records
    assert encode_batches(decoded, default_timestamp_ms=0) == [batch]


def test_header_fields_lie_where_the_format_says() -> None:
    stamp = ProducerStamp(producer_id=2**40, producer_epoch=77, base_sequence=5, is_transactional=True)
    (batch,) = encode_batches(pa.record_batch({"value": [b"v", b"w"]}), default_timestamp_ms=12)
    stamp_producer(batch, stamp)
    assert struct.unpack_from(">qiib", batch) == (0, len(batch) - 12, -1, 2)
    assert struct.unpack_from(">hiqqqhii", batch, 21) == (0x10, 1, 12, 12, 2**40, 77, 5, 2)
    assert len(batch) == HEADER_BYTES + 2 * 8


def test_the_limit_must_be_positive() -> None:
    with pytest.raises(ValueError, match="must be positive"):
        encode_batches(pa.record_batch({"value": [b"v"]}), default_timestamp_ms=0, batch_bytes_max=0)


def test_numba_is_loaded_at_first_use() -> None:
    program = "import sys; from fencepost.records.columnar import decode, encode, warm_up; "
    program += "assert 'numba' not in sys.modules; warm_up()"
    subprocess.run([sys.executable, "-c", f"{program}; assert 'numba' in sys.modules"], check=True, timeout=60)


@pytest.mark.parametrize(
    "call",
    [
        "columnar.warm_up()",
        "encode.encode_batches(pa.table({'value': [b'v']}), default_timestamp_ms=0)",
        "decode.decode_batches(build_batch([Record(value=b'v')]))",
        "encode.murmur2_partitions(pa.array(['k']), 3)",
    ],
)
def test_without_numba_a_call_says_what_to_install(call: str) -> None:
    program = f"""
import sys
sys.modules["numba"] = None
import pyarrow as pa
from fencepost.errors import FencepostError
from fencepost.records import columnar
from fencepost.records.columnar import decode, encode
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
try:
    {call}
except ImportError as error:
    assert isinstance(error, FencepostError)
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True, text=True)
    assert "numba is not installed: pip install 'fencepost[fast]'" in done.stdout


def test_columns_of_some_rows_are_encoded_like_a_table_of_those_rows() -> None:
    rows = np.array([3, 0, 2, 0])
    taken = record_columns(EVERYTHING, default_timestamp_ms=7).take(rows)
    [batch] = encode_columns(taken, compression=Compression.NONE, batch_bytes_max=BATCH_BYTES_MAX, is_sealed=True)
    [expected] = encode_batches(EVERYTHING.take(pa.array(rows)), default_timestamp_ms=7)
    assert bytes(batch) == bytes(expected)


def test_a_batch_without_a_seal_has_all_but_its_checksum_until_its_header_is_written_again() -> None:
    columns = record_columns(EVERYTHING, default_timestamp_ms=7)
    for codec in (Compression.NONE, Compression.ZSTD):
        [batch] = encode_columns(columns, compression=codec, batch_bytes_max=BATCH_BYTES_MAX, is_sealed=False)
        assert not check_crc(batch)
        batch[:HEADER_BYTES] = write_header(read_header(batch), batch[HEADER_BYTES:])
        [expected] = encode_batches(EVERYTHING, default_timestamp_ms=7, compression=codec)
        assert bytes(batch) == bytes(expected)


def test_stamping_does_not_make_damaged_records_good() -> None:
    [batch] = encode_batches(EVERYTHING, default_timestamp_ms=7)
    batch[-1] ^= 1
    stamp_producer(batch, ProducerStamp(7, 3, 11))
    assert not check_crc(batch)
