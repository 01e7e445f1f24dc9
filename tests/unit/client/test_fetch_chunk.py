"""What one answer brought of one partition."""

import pytest

from fencepost.client.consumer.fetch_chunk import FetchChunk
from fencepost.client.exceptions import CorruptRecord
from fencepost.types import TopicPartition
from tests.unit.client.stored import batch, marker, with_length

WHERE = TopicPartition("t", 3)


def offsets(chunk: FetchChunk) -> list[int]:
    found = []
    while not chunk.is_empty:
        found += [record.offset for record in chunk.next_batch(check_crcs=True)]
    return found


def test_the_end_is_known_before_anything_is_decoded() -> None:
    chunk = FetchChunk(WHERE, batch(10, 5) + marker(15) + batch(20, 2), fetch_offset=10)
    assert chunk.next_offset == 22
    assert chunk.position == 10
    assert offsets(chunk) == [10, 11, 12, 13, 14, 20, 21]
    assert chunk.position == 22


def test_records_before_the_offset_that_was_asked_for_are_left_out() -> None:
    assert offsets(FetchChunk(WHERE, batch(10, 5), fetch_offset=13)) == [13, 14]


@pytest.mark.parametrize("cut", [1, 30, 60, 62])
def test_a_last_batch_that_is_cut_short_is_for_the_next_fetch(cut: int) -> None:
    chunk = FetchChunk(WHERE, batch(10, 2) + batch(12, 2)[:cut], fetch_offset=10)
    assert chunk.next_offset == 12
    assert offsets(chunk) == [10, 11]


def test_an_answer_with_nothing_whole_is_empty() -> None:
    chunk = FetchChunk(WHERE, batch(10, 2)[:50], fetch_offset=10)
    assert chunk.is_empty
    assert chunk.next_offset == 10


def test_the_place_moves_past_batches_that_are_not_delivered() -> None:
    chunk = FetchChunk(WHERE, marker(10) + marker(11), fetch_offset=10)
    assert offsets(chunk) == []
    assert chunk.position == 12


def test_a_flipped_bit_is_named_with_its_place_and_nothing_before_it_is_lost() -> None:
    damaged = bytearray(batch(12))
    damaged[-1] ^= 1
    chunk = FetchChunk(WHERE, batch(10, 2) + damaged + batch(13), fetch_offset=10)
    assert [record.offset for record in chunk.next_batch(check_crcs=True)] == [10, 11]
    for _ in range(2):
        with pytest.raises(CorruptRecord, match="t-3 at offset 12") as found:
            chunk.next_batch(check_crcs=True)
        assert (found.value.topic_partition, found.value.offset) == (WHERE, 12)
    assert chunk.position == 12


@pytest.mark.parametrize("length", [3, 0, -1, 48])
def test_a_batch_that_lies_about_its_length_ends_the_chunk_and_takes_nothing_before_it_along(length: int) -> None:
    chunk = FetchChunk(WHERE, batch(10, 2) + with_length(batch(12), length) + batch(13), fetch_offset=10)
    assert chunk.damage is not None
    assert (chunk.damage.topic_partition, chunk.damage.offset) == (WHERE, 12)
    assert chunk.next_offset == 12
    assert offsets(chunk) == [10, 11]


def test_a_chunk_that_begins_with_a_wrong_length_has_nothing_but_the_damage() -> None:
    chunk = FetchChunk(WHERE, with_length(batch(12), 3), fetch_offset=12)
    assert (chunk.is_empty, chunk.next_offset) == (True, 12)
    assert "t-3 at offset 12: a batch says it has 15 bytes" in str(chunk.damage)


def test_a_chunk_without_damage_says_so() -> None:
    assert FetchChunk(WHERE, batch(10, 2) + batch(12)[:30], fetch_offset=10).damage is None


def test_a_batch_that_cannot_be_decoded_is_corrupt_even_if_its_checksum_is_not_checked() -> None:
    damaged = bytearray(batch(12))
    damaged[61] = 0x7F
    with pytest.raises(CorruptRecord, match="t-3 at offset 12"):
        FetchChunk(WHERE, bytes(damaged), fetch_offset=12).next_batch(check_crcs=False)
