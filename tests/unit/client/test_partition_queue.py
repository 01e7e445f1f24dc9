"""The order of one partition's batches, and their numbers: examples of each rule, and a broker that loses at random."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.client.producer.batch import ProducerBatch
from fencepost.client.producer.partition_queue import REMEMBERED_BATCHES, PartitionQueue
from fencepost.client.values import ProducerIdentity
from fencepost.errors import InvariantBroken
from fencepost.records.record import Record, increment_sequence
from fencepost.types import TopicPartition

WHERE = TopicPartition("t", 0)
IDENTITY = ProducerIdentity(7, 0)


def new_queue(*, is_known: bool = True, is_numbered: bool = True) -> PartitionQueue:
    queue = PartitionQueue(WHERE, is_numbered=is_numbered)
    queue.start(IDENTITY)
    queue.is_known = is_known
    return queue


def add(queue: PartitionQueue, *, records: int = 1, created_at_s: float = 0.0) -> ProducerBatch:
    batch = ProducerBatch(WHERE, created_at_s=created_at_s)
    for _ in range(records):
        batch.append(Record(value=b"", timestamp_ms=0))
    queue.new.append(batch)
    return batch


def send(queue: PartitionQueue, now_s: float = 0.0) -> ProducerBatch:
    batch = queue.sendable(now_s)
    assert batch is not None
    queue.take(batch)
    return batch


def test_until_the_partition_knows_the_producer_one_batch_is_on_its_way() -> None:
    queue = new_queue(is_known=False)
    add(queue), add(queue)
    first = send(queue)
    assert queue.sendable(0) is None
    queue.succeeded(first)
    assert queue.sendable(0) is not None


def test_where_the_broker_checks_the_first_number_itself_batches_may_follow_at_once() -> None:
    queue = new_queue(is_known=False)
    queue.starts_carefully = False
    add(queue), add(queue)
    send(queue)
    assert queue.sendable(0) is not None


def test_no_more_batches_are_on_their_way_than_the_partition_remembers() -> None:
    queue = new_queue()
    for _ in range(REMEMBERED_BATCHES + 1):
        add(queue)
    sent = [send(queue) for _ in range(REMEMBERED_BATCHES)]
    assert queue.sendable(0) is None
    for batch in sent[1:]:
        queue.succeeded(batch)
    assert queue.sendable(0) is None, "the first one could still be asked for again"
    queue.succeeded(sent[0])
    assert queue.sendable(0) is not None


def test_a_batch_that_comes_back_goes_again_with_its_number_before_anything_new() -> None:
    queue = new_queue()
    for _ in range(3):
        add(queue)
    first, second = send(queue), send(queue)
    queue.put_back(first, retry_at_s=5)
    assert queue.sendable(4) is None
    queue.put_back(second, retry_at_s=0)
    assert queue.sendable(4) is None, "the second waits for the first"
    assert send(queue, 5) is first
    assert (first.base_sequence, second.base_sequence) == (0, 1)
    assert queue.sendable(5) is None
    queue.succeeded(first)
    assert send(queue, 5) is second
    queue.succeeded(second)
    assert send(queue, 5).base_sequence == 2


def test_after_a_hole_the_rest_is_numbered_anew_in_its_order_once_all_of_it_is_known_not_to_be_stored() -> None:
    queue = new_queue()
    for _ in range(4):
        add(queue)
    lost, second, third = send(queue), send(queue), send(queue)
    queue.failed(lost, is_certain=False)
    assert queue.sendable(0) is None, "nothing new after a hole"
    queue.put_back(second, retry_at_s=0, is_refused=True)
    assert not queue.can_restart, "the third is still on its way"
    queue.put_back(third, retry_at_s=0)
    assert not queue.can_restart, "the third may be stored"
    assert send(queue) is third
    queue.put_back(third, retry_at_s=0, is_refused=True)
    assert queue.can_restart
    queue.restart(IDENTITY._replace(producer_epoch=1))
    queue.starts_carefully = False
    again = [send(queue) for _ in range(3)]
    assert again[:2] == [second, third]
    assert [batch.base_sequence for batch in again] == [0, 1, 2]
    assert {batch.identity.producer_epoch for batch in again} == {1}


def test_a_last_batch_that_is_certainly_not_stored_gives_its_number_back() -> None:
    queue = new_queue()
    add(queue, records=3)
    queue.failed(send(queue), is_certain=True)
    assert not queue.must_restart
    add(queue)
    assert send(queue).base_sequence == 0


def test_a_batch_that_was_never_sent_expires_without_a_trace() -> None:
    queue = new_queue()
    old, young = add(queue, created_at_s=1), add(queue, created_at_s=3)
    assert queue.drop_expired(2) == [old]
    assert not queue.must_restart
    assert send(queue) is young
    assert young.base_sequence == 0


def test_a_batch_that_expires_while_its_fate_is_unknown_leaves_a_hole() -> None:
    queue = new_queue()
    batch = add(queue, created_at_s=1)
    send(queue)
    queue.put_back(batch, retry_at_s=0)
    assert queue.drop_expired(2) == [batch]
    assert queue.can_restart


def test_dropping_leaves_what_is_on_its_way() -> None:
    queue = new_queue()
    for _ in range(3):
        add(queue)
    first, second = send(queue), send(queue)
    queue.put_back(second, retry_at_s=0)
    dropped = queue.drop_waiting()
    assert dropped[0] is second
    assert len(dropped) == 2
    assert queue.unresolved == [first]
    assert not queue.is_idle
    queue.succeeded(first)
    assert queue.is_idle


def test_without_numbers_the_order_is_that_of_the_queue() -> None:
    queue = new_queue(is_numbered=False)
    add(queue), add(queue)
    first = send(queue)
    queue.put_back(first, retry_at_s=2)
    assert queue.sendable(1) is None
    assert send(queue, 2) is first
    assert first.base_sequence == -1


def test_a_new_start_with_batches_on_their_way_is_our_own_mistake() -> None:
    queue = new_queue()
    add(queue)
    send(queue)
    with pytest.raises(InvariantBroken):
        queue.start(IDENTITY)


class Partition:
    """A partition as Kafka keeps it: the last five batches of the producer, and what it has stored."""

    def __init__(self) -> None:
        self.stored: list[ProducerBatch] = []
        self.epoch = -1
        self.remembered: list[tuple[int, int]] = []
        self.next_sequence = 0

    def offer(self, batch: ProducerBatch, epoch: int, sequence: int) -> str:
        if epoch == self.epoch and (sequence, batch.record_count) in self.remembered:
            return "stored"
        if epoch < self.epoch:
            return "refused"
        expected = self.next_sequence if epoch == self.epoch else 0
        # Kafka takes any first number from a producer that it does not know (KIP-360).
        if sequence != expected and self.epoch >= 0:
            return "refused"
        if epoch > self.epoch:
            self.epoch, self.remembered = epoch, []
        self.remembered = [*self.remembered, (sequence, batch.record_count)][-REMEMBERED_BATCHES:]
        self.next_sequence = increment_sequence(sequence, batch.record_count)
        self.stored.append(batch)
        return "stored"


@settings(max_examples=300, deadline=None)
@given(data=st.data(), counts=st.lists(st.integers(1, 3), min_size=1, max_size=14))
def test_whatever_is_lost_every_batch_that_succeeded_is_stored_once_and_in_order(
    data: st.DataObject, counts: list[int]
) -> None:
    queue, partition = new_queue(is_known=False), Partition()
    batches = [add(queue, records=count) for count in counts]
    wire: list[tuple[ProducerBatch, int, int]] = []
    succeeded: list[ProducerBatch] = []
    given_up: list[ProducerBatch] = []
    trouble = 0
    while len(succeeded) + len(given_up) < len(batches):
        if queue.can_restart:
            queue.restart(queue.identity._replace(producer_epoch=queue.identity.producer_epoch + 1))
        if queue.sendable(0) is not None and (not wire or data.draw(st.booleans())):
            batch = send(queue)
            wire.append((batch, batch.identity.producer_epoch, batch.base_sequence))
            continue
        assert wire, "somebody must move"
        batch, epoch, sequence = wire.pop(0)
        trouble += 1
        fates = ["answer", "lost before", "lost after", "given up", "refused for good"]
        fate = data.draw(st.sampled_from(fates)) if trouble < 40 else "answer"
        if fate == "refused for good":
            queue.failed(batch, is_certain=batch.attempts == 1)
            given_up.append(batch)
            continue
        answer = None if fate == "lost before" else partition.offer(batch, epoch, sequence)
        if fate in ("lost before", "lost after"):
            queue.put_back(batch, retry_at_s=0)
        elif fate == "given up":
            queue.failed(batch, is_certain=False)
            given_up.append(batch)
        elif answer == "stored":
            queue.succeeded(batch)
            succeeded.append(batch)
        else:
            queue.put_back(batch, retry_at_s=0, is_refused=not queue.has_unresolved_before(batch))
    assert len(set(map(id, partition.stored))) == len(partition.stored), "nothing is stored twice"
    assert set(map(id, succeeded)) <= set(map(id, partition.stored)), "what succeeded is stored"
    order = [batches.index(batch) for batch in partition.stored]
    assert order == sorted(order), "in the order of sending"
