"""Counting records in an answer to Fetch by the headers of its batches."""

from collections.abc import Callable

import pytest

from fencepost.client import offsets
from fencepost.client.cluster import Cluster
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.time_limits import Deadline
from fencepost.records.header import split_batches
from fencepost.types import OffsetRange, TopicPartition
from fencepost.wire.messages.fetch import AbortedTransaction, PartitionData
from tests.unit.client.stored import batch, marker

LOG = b"".join(
    [
        batch(0, 10),
        batch(10, 5, producer_id=7),
        marker(15, 7, is_commit=False),
        batch(16, 4, producer_id=7),
        marker(20, 7, is_commit=True),
        batch(21, 2, last_offset_delta=9),
    ]
)
ABORTED = [AbortedTransaction(7, 10)]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Counts in a partition that holds LOG and answers with what there is from the offset on."""

    def count(start: int, end: int, *, aborted: list[AbortedTransaction] = ABORTED) -> int:
        def fetch(_: Cluster, __: TopicPartition, offset: int, **___: object) -> PartitionData:
            batches = [bytes(batch) for header, batch in split_batches(LOG) if header.last_offset >= offset]
            return PartitionData(records=[b"".join(batches)], aborted_transactions=aborted)

        monkeypatch.setattr(offsets, "fetch_partition", fetch)
        settings = ConsumerSettings()
        cluster = Cluster("127.0.0.1:1", settings)
        return offsets.count_records(cluster, settings, TopicPartition("t", 0), OffsetRange(start, end), Deadline(30))

    return count


def test_markers_aborted_records_and_compacted_ones_do_not_count(counted: Callable[..., int]) -> None:
    assert counted(0, 31) == 10 + 4 + 2


def test_uncommitted_readers_count_what_was_aborted(counted: Callable[..., int]) -> None:
    assert counted(0, 31, aborted=[]) == 10 + 5 + 4 + 2


def test_a_range_may_begin_and_end_inside_a_batch(counted: Callable[..., int]) -> None:
    assert counted(3, 8) == 5
    assert counted(3, 18) == 7 + 2


def test_an_answer_with_nothing_is_the_end(counted: Callable[..., int]) -> None:
    assert counted(31, 35) == 0
    assert counted(0, 99) == 10 + 4 + 2
