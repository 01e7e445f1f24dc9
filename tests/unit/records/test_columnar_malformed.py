"""Bytes that are no record batch: an error that says so, and no stray reads."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fencepost.records.builder import build_batch
from fencepost.records.columnar import kernels
from fencepost.records.columnar.columns import Field, Scan
from fencepost.records.columnar.decode import decode_batches
from fencepost.records.compression import Compression
from fencepost.records.header import HEADER_BYTES, read_header, write_header
from fencepost.records.reader import read_records
from fencepost.records.record import InvalidRecordBatch, Record
from fencepost.records.varint import encode_varint

RECORDS = [
    Record(0, 1_000_000, b"key", b"value", (("a", b"1"), ("b", None))),
    Record(1, 1_000_200, None, b"v" * 150),
    Record(2, 999_999, b"", None, (("c", b"x" * 80),)),
]
BATCH = build_batch(RECORDS)
PAYLOAD = BATCH[HEADER_BYTES:]


def sealed(payload: bytes, **fields: int) -> bytes:
    return write_header(read_header(BATCH)._replace(**fields), payload) + payload


def record(*pieces: bytes, length: int | None = None) -> bytes:
    body = b"".join(pieces)
    return encode_varint(len(body) if length is None else length) + body


HEAD = b"\x00\x00\x00"
KEY = encode_varint(1) + b"k"
NULL = encode_varint(-1)
NO_HEADERS = encode_varint(0)
GOOD = record(HEAD, KEY, NULL, NO_HEADERS)


@pytest.mark.parametrize(
    ("payload", "complaint"),
    [
        (record(HEAD, KEY, NULL, NO_HEADERS, length=60), "a length passes the end"),
        (record(HEAD, KEY, NULL, NO_HEADERS, length=-1), "a length passes the end"),
        (record(HEAD, encode_varint(2**31 - 1), NULL, NO_HEADERS), "a length passes the end"),
        (record(HEAD, KEY, encode_varint(5), b"1234"), "a length passes the end"),
        (record(HEAD, KEY, NULL, NO_HEADERS, b"extra"), "do not add up to its length"),
        (record(HEAD, KEY, NULL, encode_varint(-1)), "number of headers"),
        (record(HEAD, KEY, NULL, encode_varint(2**31 - 1), b"\x00" * 8), "number of headers"),
        (record(HEAD, KEY, NULL, encode_varint(1), NULL, NULL), "a header has no key"),
        (record(HEAD, KEY, NULL, encode_varint(1), encode_varint(9), b"k" * 3), "a length passes the end"),
        (record(HEAD, KEY, NULL, encode_varint(1), KEY, encode_varint(9), b"v"), "a length passes the end"),
        (record(HEAD, KEY, NULL, encode_varint(2), KEY, KEY, b"\x80\x80"), "a varint is cut short"),
        (record(b"\x00\x00", b"\xff\xff\xff\xff\x10", KEY), "a varint is too long"),
        (record(b"\x00", b"\xff" * 9 + b"\x02", KEY, b"\x00"), "a varint is too long"),
        (record(b"\x00" * 5, b"\x80"), "a varint is cut short"),
        (b"\xff\xff\xff\xff\x1f" + GOOD, "a varint is too long"),
        (b"\x80" * 9, "a varint is too long"),
        (record(length=0) + GOOD, "a varint is cut short"),
        (GOOD + GOOD, "bytes are left behind the last record"),
        (b"\x80\x80\x80\x80\x80\x80\x80", "a varint is too long"),
    ],
)
def test_record_that_contradicts_itself_is_refused_with_the_reason(payload: bytes, complaint: str) -> None:
    batch = sealed(payload, record_count=1, base_offset=1234)
    with pytest.raises(InvalidRecordBatch, match=complaint) as caught:
        decode_batches(batch)
    assert "the batch at offset 1234" in str(caught.value)
    with pytest.raises(InvalidRecordBatch):
        read_records(batch)


def test_extreme_varints_are_read() -> None:
    deltas = b"\x00" + b"\xff" * 9 + b"\x01" + encode_varint(2**31 - 1)
    batch = sealed(record(deltas, KEY, b"\xff\xff\xff\xff\x0f", NO_HEADERS), record_count=1, base_timestamp=0)
    (row,) = read_records(batch)
    assert (row.offset, row.timestamp_ms, row.value) == (2**31 - 1, -(2**63), None)
    decoded = decode_batches(batch).records
    assert decoded.column("offset").to_pylist() == [2**31 - 1]
    assert decoded.column("timestamp").cast("int64").to_pylist() == [-(2**63)]
    assert decoded.column("value").to_pylist() == [None]


@pytest.mark.parametrize("record_count", [-1, 2**31 - 1, 4, len(PAYLOAD) // 7 + 1])
def test_count_of_records_is_checked_before_memory_is_taken(record_count: int) -> None:
    with pytest.raises(InvalidRecordBatch):
        decode_batches(sealed(PAYLOAD, record_count=record_count))


def test_second_batch_is_blamed_when_it_is_the_bad_one() -> None:
    bad = sealed(PAYLOAD[:-1], base_offset=77)
    with pytest.raises(InvalidRecordBatch, match="record 2 of the batch at offset 77"):
        decode_batches(BATCH + bad)


def test_bad_checksum_is_refused_unless_nobody_asked() -> None:
    flipped = bytearray(BATCH)
    flipped[30] ^= 1
    with pytest.raises(InvalidRecordBatch, match="checksum"):
        decode_batches(flipped)
    assert decode_batches(flipped, check_crcs=False).records.num_rows == 3


def test_other_formats_codecs_and_bombs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    old = bytearray(BATCH)
    old[16] = 1
    with pytest.raises(InvalidRecordBatch, match="magic 1"):
        decode_batches(old)
    with pytest.raises(InvalidRecordBatch, match="codec 7"):
        decode_batches(sealed(PAYLOAD, attributes=7))
    bomb = build_batch([Record(value=bytes(10**6))], compression=Compression.ZSTD)
    monkeypatch.setattr("fencepost.records.compression.DECOMPRESSED_BYTES_MAX", 10**5)
    with pytest.raises(InvalidRecordBatch, match="grows past the limit"):
        decode_batches(bomb)


def mutations(seed: int, count: int) -> Iterator[bytes]:
    """Payloads with bytes changed, inserted and removed, at the start more often than elsewhere.

    Every fourth ends in a record whose length is right but whose fields go on where the batch ends.
    """
    rng = np.random.default_rng(seed)
    for number in range(count):
        payload = bytearray(PAYLOAD)
        for _ in range(int(rng.integers(1, 4))):
            at = int(rng.integers(0, len(payload)))
            if rng.random() < 0.5:
                at = min(at, int(rng.integers(0, 30)))
            kind = rng.integers(0, 4)
            if kind == 0:
                payload[at] = int(rng.choice([0, 1, 2, 127, 128, 255, int(rng.integers(0, 256))]))
            elif kind == 1:
                payload[at:at] = rng.bytes(int(rng.integers(1, 6)))
            elif kind == 2:
                del payload[at : at + int(rng.integers(1, 6))]
            else:
                payload[at:at] = b"\xff" * int(rng.integers(1, 11))
            payload = payload or bytearray(b"\x00")
        if number % 4 == 0:
            payload = bytearray(GOOD + GOOD + record(bytes(payload[1 : int(rng.integers(2, 40))])))
        yield bytes(payload)


def scan(payload: bytes, behind: bytes) -> tuple[Scan, list[list[int]]]:
    data = np.frombuffer(payload + behind, np.uint8)
    data.setflags(write=False)
    fields = np.zeros((len(Field), 3), np.int64)
    table = np.array([[0, len(payload), 3, 100, 5, 0, 0]], np.int64)
    found = kernels.scan_records(data, table, 0, 2**62, fields)
    return Scan(*map(int, found)), fields[:, : found.row_count].tolist()


def test_mutated_payloads_end_alike_whatever_lies_behind_them() -> None:
    problems = set()
    for payload in mutations(seed=1, count=2500):
        outcome = scan(payload, b"\x00" * 64)
        assert scan(payload, b"\xff" * 64) == outcome
        problems.add(outcome[0].problem)
    assert problems == set(range(8)), "the mutations reach every kind of problem, and none"


def test_mutated_batches_are_read_or_refused_as_the_record_by_record_reader_does() -> None:
    refused = 0
    for payload in mutations(seed=2, count=2000):
        batch = sealed(payload, base_offset=2**40)
        try:
            expected = [(row.offset, row.key, row.value, len(row.headers)) for row in read_records(batch)]
        except InvalidRecordBatch:
            refused += 1
            with pytest.raises(InvalidRecordBatch):
                decode_batches(batch)
            continue
        rows = decode_batches(batch).records.drop_columns(["timestamp"]).to_pylist()
        assert [(row["offset"], row["key"], row["value"], len(row["headers"] or ())) for row in rows] == expected
    assert 500 < refused < 2000


BOUNDS_CHECKED = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("malformed", sys.argv[1])
malformed = importlib.util.module_from_spec(spec)
spec.loader.exec_module(malformed)
from fencepost.records.columnar.decode import decode_batches
from fencepost.records.columnar.encode import encode_batches
from fencepost.records.record import InvalidRecordBatch
for payload in malformed.mutations(seed=3, count=2000):
    try:
        decoded = decode_batches(malformed.sealed(payload)).records
    except InvalidRecordBatch:
        continue
    encode_batches(decoded, default_timestamp_ms=0)
"""


def test_no_kernel_leaves_its_arrays_when_numba_checks_bounds(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", BOUNDS_CHECKED, __file__], env=environment, check=True, timeout=240)
