"""Scenarios that nobody thought of: living and fenced instances, lost answers, time-outs and kills in any order.

Two transactional ids are used by clients of both flows that do not respect one another. Whatever is answered, the
invariants hold, and a broker that comes back holds the same.
"""

from collections.abc import Callable
from random import Random

import pytest

from fencepost.broker.handlers import produce as producing
from fencepost.errors import ErrorCode, InvariantBroken
from fencepost.partition import append
from fencepost.partition.partition import AbortedIndex
from fencepost.partition.producer_state import ProducerState
from fencepost.transactions.state import CoordinatorState
from fencepost.types import NO_OFFSET, ProducerIdentity, TopicPartition
from tests.scenarios.conftest import OpenShop
from tests.scenarios.shop import PARTITIONS, TOPIC, Producer, Shop

IDS = ("blue", "green")
STEPS = 60


class Chaos:
    """Draws step after step. Identities are drawn from all that were ever handed out, the current one most often."""

    def __init__(self, shop: Shop, seed: int) -> None:
        self.shop = shop
        self.random = Random(seed)
        self.identities: dict[str, list[ProducerIdentity]] = {name: [] for name in IDS}
        self.steps: list[tuple[int, Callable[[], object]]] = [
            (12, self.write),
            (6, self.end),
            (3, self.initialise),
            (2, self.continue_with_identity),
            (3, self.add),
            (3, self.send_offset),
            (2, self.write_without_transaction),
            (2, self.lose_answers),
            (1, self.time_out),
            (1, self.shop.restart),
            (1, self.shop.kill),
        ]

    def run(self) -> None:
        for name in IDS:
            self.remember(name, self.shop.init(name))
        weights, steps = zip(*self.steps, strict=True)
        for step in self.random.choices(steps, weights, k=STEPS):
            step()

    def remember(self, name: str, reply: object) -> None:
        if getattr(reply, "error_code", -1) == ErrorCode.NONE and getattr(reply, "producer_id", -1) >= 0:
            self.identities[name].append(ProducerIdentity(reply.producer_id, reply.producer_epoch))  # type: ignore[attr-defined]

    def producer(self) -> Producer:
        name = self.random.choice(IDS)
        draw = self.random.random()
        known = self.identities[name]
        identity = known[-1] if draw < 0.2 else self.random.choice(known)
        if draw > 0.4:
            described = self.shop.described(name)
            identity = ProducerIdentity(described.producer_id, described.producer_epoch)
        return Producer(self.shop, name, identity, flow=self.random.choice((1, 2)))

    def write(self, *, is_answered: bool = True) -> None:
        producer, partition = self.producer(), self.random.randrange(PARTITIONS)
        sequence = self.next_sequence(producer, partition) if self.random.random() < 0.8 else self.random.randrange(4)
        values = [self.random.randbytes(4)] * self.random.randint(1, 3)
        if producer.flow == 1 and self.random.random() < 0.8:
            producer.add(partition)
        write = producer.write if is_answered else producer.start_writing
        write(*values, partition=partition, sequence=sequence, connection=self.random.randint(1, 4))

    def next_sequence(self, producer: Producer, partition: int) -> int:
        state = self.shop.broker.core.state.logs[TopicPartition(TOPIC, partition)].state
        known = state.producers.get(producer.identity.producer_id)
        is_same_epoch = known is not None and known.producer_epoch == producer.identity.producer_epoch
        return known.last_sequence + 1 if known is not None and is_same_epoch else 0

    def end(self) -> None:
        producer = self.producer()
        reply = self.shop.end(
            producer.identity,
            committed=self.random.random() < 0.6,
            version=self.random.choice((4, 5)),
            transactional_id=producer.transactional_id,
            connection=9,
        )
        self.remember(producer.transactional_id, reply)

    def initialise(self) -> None:
        name = self.random.choice(IDS)
        self.remember(name, self.shop.init(name))

    def continue_with_identity(self) -> None:
        producer = self.producer()
        self.remember(producer.transactional_id, self.shop.init(producer.transactional_id, presented=producer.identity))

    def add(self) -> None:
        self.producer().add(*self.random.sample(range(PARTITIONS), k=2))

    def send_offset(self) -> None:
        producer = self.producer()
        producer.flow = 2
        producer.send_offset(self.random.randrange(100))

    def write_without_transaction(self) -> None:
        self.shop.broker.produce(TOPIC, b"plain", partition=self.random.randrange(PARTITIONS))

    def lose_answers(self) -> None:
        """The broker dies before it has written what it was asked for."""
        for _ in range(self.random.randint(1, 3)):
            self.write(is_answered=False)
        self.shop.kill()

    def time_out(self) -> None:
        self.shop.time_out()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("level", ["1", "2"])
def test_no_order_of_requests_and_faults_breaks_an_invariant(open_shop: OpenShop, seed: int, level: str) -> None:
    shop = open_shop(transaction_version=level, log_segment_bytes="16384")
    Chaos(shop, seed).run()
    shop.check()
    readable = [(shop.committed(partition), shop.written(partition)) for partition in range(PARTITIONS)]
    offset = shop.offset()
    for come_back in (shop.kill, shop.restart, shop.kill):
        come_back()
        assert [(shop.committed(each), shop.written(each)) for each in range(PARTITIONS)] == readable
        assert shop.offset() == offset


def forget_aborts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers are not told which transactions were aborted."""
    monkeypatch.setattr(AbortedIndex, "append", lambda *_args, **_kwargs: None)


def forget_fences(monkeypatch: pytest.MonkeyPatch) -> None:
    """A marker leaves no epoch behind, and the coordinator lets every epoch in."""

    def end_transaction(producer: ProducerState, **_kwargs: int) -> None:
        producer.current_txn_first_offset = NO_OFFSET

    monkeypatch.setattr(ProducerState, "end_transaction", end_transaction)
    monkeypatch.setattr(
        CoordinatorState, "owned_by", lambda state, transactional_id, _presented: state.known(transactional_id)
    )


def forget_duplicates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever comes is the next batch."""
    monkeypatch.setattr(ProducerState, "find_duplicate", lambda _producer, _header: None)
    monkeypatch.setattr(append, "_sequence_refusal", lambda *_args: None)


def join_after_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The coordinator is not asked before the first batch of a transaction."""
    monkeypatch.setattr(producing, "join_transaction", lambda *_args, **_kwargs: None)


@pytest.mark.parametrize("plant", [forget_aborts, forget_fences, forget_duplicates, join_after_the_batch])
def test_a_planted_bug_is_caught_within_a_hundred_seeds(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    for seed in range(100):
        shop = Shop(log_segment_bytes="16384")
        try:
            Chaos(shop, seed).run()
            shop.check()
        except (AssertionError, InvariantBroken):
            return
    pytest.fail("nobody noticed")
