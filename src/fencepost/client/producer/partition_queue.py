"""The batches of one partition between `send` and their answer, and the order that they must keep. Pure.

With numbers (an idempotent or transactional producer) these rules keep records in order and single, whatever is lost:

* A batch keeps its number until the partition has said for certain that it does not have it.
* A batch that is sent again goes alone, when all before it are settled; meanwhile nothing new is sent.
* No batch is sent that could push an unsettled one out of what the partition remembers.
* Until the partition has acknowledged something from this identity, one batch is on its way at a time: Kafka takes any
  first number from a producer that it does not know, so a second batch could overtake a first one that was refused.
* After a hole (a batch that was given up) the rest is numbered anew under the next epoch, but only once each of them
  is known not to have been stored (`must_restart`).
"""

from bisect import insort
from collections import deque

from fencepost.client.exceptions import ClientError
from fencepost.client.producer.batch import ProducerBatch
from fencepost.client.values import NO_IDENTITY, ProducerIdentity
from fencepost.errors import invariant
from fencepost.records.record import increment_sequence
from fencepost.types import NO_SEQUENCE, TopicPartition

REMEMBERED_BATCHES = 5
"""Of each producer a partition remembers this many batches: an older one that comes again looks like a hole."""


class PartitionQueue:
    __slots__ = (
        "_next_order",
        "identity",
        "is_known",
        "is_numbered",
        "must_restart",
        "new",
        "next_sequence",
        "on_wire_count",
        "starts_carefully",
        "topic_partition",
        "trouble",
        "unresolved",
        "waiting_again",
    )

    def __init__(self, topic_partition: TopicPartition, *, is_numbered: bool) -> None:
        self.topic_partition = topic_partition
        self.is_numbered = is_numbered
        self.new: deque[ProducerBatch] = deque()
        self.waiting_again: list[ProducerBatch] = []
        """Sent before, in their order."""
        self.unresolved: list[ProducerBatch] = []
        """Sent and not settled, in their order: on their way, or waiting again."""
        self.on_wire_count = 0
        self.identity = NO_IDENTITY
        self.next_sequence = 0
        self.is_known = False
        self.must_restart = False
        self.starts_carefully = True
        self.trouble: ClientError | None = None
        """Why the last try to deliver something failed; None after one that did not."""
        self._next_order = 0

    @property
    def is_idle(self) -> bool:
        return not (self.new or self.unresolved)

    @property
    def last_trouble(self) -> str:
        """For the end of a message: a time limit says that something took too long, and this what it was."""
        return "" if self.trouble is None else f"; the last try said: {self.trouble}"

    @property
    def oldest_waiting(self) -> ProducerBatch | None:
        if self.waiting_again:
            return self.waiting_again[0]
        return self.new[0] if self.new else None

    @property
    def next_to_send(self) -> ProducerBatch | None:
        """The batch whose turn it is, once its pause is over; None while the order forbids any."""
        if not self.is_numbered:
            return self.oldest_waiting
        if self.waiting_again:
            batch = next((batch for batch in self.waiting_again if not batch.is_refused), None)
            first = next((batch for batch in self.unresolved if not batch.is_refused), None)
            return batch if batch is first else None
        if self.must_restart or not self.new:
            return None
        if self.unresolved and self._next_order - _order(self.unresolved[0]) >= REMEMBERED_BATCHES:
            return None
        if self.starts_carefully and not self.is_known and self.on_wire_count:
            return None
        return self.new[0]

    def sendable(self, now_s: float) -> ProducerBatch | None:
        """The batch that may be sent now."""
        batch = self.next_to_send
        return batch if batch is not None and batch.retry_at_s <= now_s else None

    def start(self, identity: ProducerIdentity) -> None:
        """Number from 0 under this identity."""
        invariant(not self.unresolved, f"{self.topic_partition} starts anew with nothing on its way")
        self.identity = identity
        self.next_sequence = 0
        self.is_known = False
        self.must_restart = False

    def take(self, batch: ProducerBatch) -> bool:
        """The batch goes on its way. Returns whether it has a number to be stamped with: `batch.base_sequence`."""
        batch.attempts += 1
        batch.is_closed = True
        self.on_wire_count += 1
        if batch.order is not None:
            self.waiting_again.remove(batch)
            return False
        invariant(self.new and self.new[0] is batch, f"{self.topic_partition} sends its batches in order")
        self.new.popleft()
        batch.order = self._next_order
        self._next_order += 1
        self.unresolved.append(batch)
        if not self.is_numbered or batch.base_sequence != NO_SEQUENCE:
            return False
        batch.identity = self.identity
        batch.base_sequence = self.next_sequence
        self.next_sequence = increment_sequence(self.next_sequence, batch.record_count)
        return True

    def has_unresolved_before(self, batch: ProducerBatch) -> bool:
        """Whether an earlier batch may still be stored, so that being out of order is only being too early."""
        for other in self.unresolved:
            if other is batch:
                return False
            if not other.is_refused:
                return True
        return False

    def put_back(self, batch: ProducerBatch, *, retry_at_s: float, is_refused: bool = False) -> None:
        """It comes from the wire, to be sent again. Refused: it is certainly not stored under its number."""
        self.on_wire_count -= 1
        batch.retry_at_s = retry_at_s
        batch.is_refused = is_refused
        insort(self.waiting_again, batch, key=_order)
        if is_refused:
            self.must_restart = True

    def succeeded(self, batch: ProducerBatch) -> None:
        self.on_wire_count -= 1
        self.unresolved.remove(batch)
        if batch.identity == self.identity:
            self.is_known = True

    def failed(self, batch: ProducerBatch, *, is_certain: bool) -> None:
        """It comes from the wire and is given up. Certain: the partition has said that it does not have it."""
        self.on_wire_count -= 1
        self._give_up(batch, is_certain=is_certain)

    def drop_waiting(self) -> list[ProducerBatch]:
        """Give up everything that is not on its way."""
        dropped = [*self.waiting_again, *self.new]
        for batch in list(self.waiting_again):
            self._give_up(batch, is_certain=batch.is_refused)
        self.waiting_again.clear()
        self.new.clear()
        return dropped

    def drop_expired(self, created_before_s: float) -> list[ProducerBatch]:
        """Give up what waits and was made before that moment."""
        expired = [batch for batch in self.waiting_again if batch.created_at_s <= created_before_s]
        for batch in expired:
            self.waiting_again.remove(batch)
            self._give_up(batch, is_certain=batch.is_refused)
        while self.new and self.new[0].created_at_s <= created_before_s:
            expired.append(self.new.popleft())
        return expired

    @property
    def can_restart(self) -> bool:
        """Whether all that was sent is settled or known not to be stored, so that it can be numbered anew."""
        return self.must_restart and not self.on_wire_count and all(batch.is_refused for batch in self.unresolved)

    def restart(self, identity: ProducerIdentity) -> None:
        """Number what waits anew, from 0, in its order."""
        invariant(self.can_restart, f"{self.topic_partition} knows the fate of all that it numbered")
        again, self.waiting_again, self.unresolved = self.waiting_again, [], []
        for batch in again:
            batch.order = None
            batch.base_sequence = NO_SEQUENCE
            batch.is_refused = False
        self.new.extendleft(reversed(again))
        self.start(identity)

    def _give_up(self, batch: ProducerBatch, *, is_certain: bool) -> None:
        if batch not in self.unresolved:
            return
        was_last = self.unresolved[-1] is batch
        self.unresolved.remove(batch)
        if not self.is_numbered:
            return
        if is_certain and was_last and batch.identity == self.identity:
            self.next_sequence = batch.base_sequence
        else:
            self.must_restart = True


def _order(batch: ProducerBatch) -> int:
    invariant(batch.order is not None, "a batch that waits again was sent before")
    assert batch.order is not None
    return batch.order
