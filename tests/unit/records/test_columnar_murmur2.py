"""Kafka's default partitioner over a column of keys."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from aiokafka.partitioner import murmur2 as aiokafka_murmur2

from fencepost.records.columnar.encode import murmur2_partitions

with warnings.catch_warnings():
    # kafka-python reads its schemas through a function that Python 3.11 deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.partitioner.default import murmur2 as kafka_python_murmur2

HASHES_OF_KAFKAS_OWN_TESTS = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize("partition_count", [1, 2, 3, 12, 1000, 2**31 - 1])
def test_keys_land_where_kafkas_own_test_values_say(partition_count: int) -> None:
    keys = pa.array(list(HASHES_OF_KAFKAS_OWN_TESTS), pa.binary())
    expected = [(value & 0x7FFFFFFF) % partition_count for value in HASHES_OF_KAFKAS_OWN_TESTS.values()]
    partitions = murmur2_partitions(keys, partition_count)
    assert partitions.dtype == np.int32
    assert partitions.tolist() == expected


def test_keys_of_every_length_land_where_the_python_clients_put_them() -> None:
    rng = np.random.default_rng(3)
    keys = [rng.bytes(length) for length in range(130)] + [b"\xff" * length for length in range(20)]
    for hash_of in (aiokafka_murmur2, kafka_python_murmur2):
        expected = [(hash_of(key) & 0x7FFFFFFF) % 2**20 for key in keys]
        assert murmur2_partitions(pa.array(keys, pa.binary()), 2**20).tolist() == expected


def test_null_keys_are_left_to_the_caller() -> None:
    keys = pa.array([None, "foobar", None, ""], pa.large_string())
    partitions = murmur2_partitions(keys, 5)
    assert partitions.tolist() == [-1, (-790332482 & 0x7FFFFFFF) % 5, -1, (aiokafka_murmur2(b"") & 0x7FFFFFFF) % 5]


def test_chunked_and_sliced_keys_are_taken_as_one_column() -> None:
    whole = pa.array([b"skipped", b"foobar", b"abc", b"21"])
    chunked = pa.chunked_array([whole.slice(1, 2), whole.slice(3), whole.slice(0, 0)])
    expected = murmur2_partitions(pa.array([b"foobar", b"abc", b"21"]), 97)
    assert murmur2_partitions(chunked, 97).tolist() == expected.tolist()


def test_there_must_be_a_partition() -> None:
    with pytest.raises(ValueError, match="partition_count 0"):
        murmur2_partitions(pa.array([b"x"]), 0)
