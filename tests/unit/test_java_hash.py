import pytest

from fencepost.java_hash import java_string_hash, partition_for

VECTORS = [
    ("my-txn-id", 1405732511, 11),
    ("orders-7", 1234322255, 5),
    ("flink-0-274", 1085028549, 49),
    ("polygenelubricants", -2147483648, 0),
    ("pay-ü-1", -788444933, 33),
    ("", 0, 0),
]


@pytest.mark.parametrize(("name", "hashed", "partition"), VECTORS)
def test_the_hash_and_partition_are_those_of_kafka(name: str, hashed: int, partition: int) -> None:
    assert java_string_hash(name) == hashed
    assert partition_for(name, 50) == partition


def test_a_character_outside_the_basic_plane_counts_as_its_two_surrogates() -> None:
    assert java_string_hash("\U0001f600") == 31 * 0xD83D + 0xDE00


def test_a_lone_surrogate_is_hashed_like_any_other_unit() -> None:
    assert java_string_hash("\ud83d") == 0xD83D


@pytest.mark.parametrize("count", [1, 3, 50, 1000])
def test_every_name_falls_into_a_partition_that_exists(count: int) -> None:
    assert {partition_for(f"id-{number}", count) for number in range(20 * count)} == set(range(count))
