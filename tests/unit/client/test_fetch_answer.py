"""What an answer to Fetch does to a partition: pure, no broker."""

from uuid import UUID

import pytest

from fencepost.client.cluster import Cluster
from fencepost.client.consumer.assignment import Assignment
from fencepost.client.consumer.fetch_session import FetchTarget
from fencepost.client.consumer.fetcher import Fetcher
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.exceptions import CorruptRecord
from fencepost.types import TopicPartition
from fencepost.wire.messages.fetch import PartitionData
from fencepost.wire.reading import ZERO_UUID
from tests.unit.client.stored import batch, with_length

WHERE = TopicPartition("t", 0)
OLD, NEW = UUID(int=1), UUID(int=2)
SETTINGS = ConsumerSettings()


def assigned(topic_id: UUID = OLD) -> Assignment:
    assignment = Assignment()
    assignment.become([WHERE])
    assignment[WHERE].topic_id = topic_id
    assignment[WHERE].move_to(0)
    return assignment


def answer(assignment: Assignment, records: bytes, *, asked: UUID = OLD) -> None:
    fetcher = Fetcher(Cluster("127.0.0.1:1", SETTINGS), SETTINGS, assignment)
    found = PartitionData(partition_index=0, records=[records])
    fetcher.take_answer(WHERE, found, {WHERE: FetchTarget(asked, 0, 0, 100)})


def test_an_answer_of_a_topic_that_was_deleted_is_not_taken_for_the_new_ones() -> None:
    assignment = assigned(NEW)
    answer(assignment, batch(0, 10), asked=OLD)
    assert not assignment[WHERE].has_something
    assert assignment[WHERE].fetch_offset == 0
    answer(assignment, batch(0, 10), asked=NEW)
    assert assignment[WHERE].fetch_offset == 10


@pytest.mark.parametrize(("known", "asked"), [(ZERO_UUID, OLD), (OLD, ZERO_UUID), (ZERO_UUID, ZERO_UUID)])
def test_where_some_brokers_have_no_ids_offsets_alone_decide(known: UUID, asked: UUID) -> None:
    assignment = assigned(known)
    answer(assignment, batch(0, 10), asked=asked)
    assert assignment[WHERE].has_something


def test_records_before_a_batch_with_a_wrong_length_come_first_and_then_the_error() -> None:
    assignment = assigned()
    answer(assignment, batch(0, 10) + with_length(batch(10, 10), 5))
    state = assignment[WHERE]
    assert state.decode(check_crcs=True)
    assert [record.offset for record in state.decoded] == list(range(10))
    assert isinstance(state.problem, CorruptRecord)
    assert state.problem.offset == 10


def test_an_answer_that_begins_with_a_wrong_length_is_only_the_error() -> None:
    assignment = assigned()
    answer(assignment, with_length(batch(0, 10), 5))
    assert not assignment[WHERE].has_something
    assert isinstance(assignment[WHERE].problem, CorruptRecord)
