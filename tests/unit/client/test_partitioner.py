"""Where records go: Kafka's hash, bit for bit, and partitions that take turns."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.client.producer.producer import StickyPartitioner, murmur2, partition_for_key
from fencepost.records.columnar.encode import murmur2_partitions

# From the tests of Apache Kafka's own org.apache.kafka.common.utils.Utils.
KNOWN = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize("key", KNOWN)
def test_the_hash_is_that_of_kafkas_own_tests(key: bytes) -> None:
    assert murmur2(key) == KNOWN[key] % 2**32


@settings(deadline=None)
@given(keys=st.lists(st.binary(max_size=400), min_size=1), partition_count=st.integers(1, 1000))
def test_single_keys_and_whole_columns_land_on_the_same_partitions(keys: list[bytes], partition_count: int) -> None:
    column = murmur2_partitions(pa.array(keys, pa.binary()), partition_count)
    assert [partition_for_key(key, partition_count) for key in keys] == column.tolist()


def test_a_partition_keeps_its_share_and_then_another_one_is_taken() -> None:
    sticky = StickyPartitioner(100, choose=min)
    chosen = [sticky.partition("t", [0, 1, 2], 40) for _ in range(9)]
    assert chosen == [0, 0, 0, 1, 1, 1, 0, 0, 0]


def test_a_partition_that_lost_its_leader_is_left_at_once() -> None:
    sticky = StickyPartitioner(1000, choose=min)
    assert sticky.partition("t", [0, 1], 1) == 0
    assert sticky.partition("t", [1], 1) == 1
    assert sticky.partition("t", [1], 2000) == 1
    assert sticky.partition("t", [1], 1) == 1


def test_topics_have_partitions_of_their_own() -> None:
    sticky = StickyPartitioner(10, choose=min)
    assert [sticky.partition(topic, [0, 1], 10) for topic in ("a", "b", "a", "b")] == [0, 0, 1, 1]
