"""Batches that come to an end, or back: answers applied to their queues, memory given back, futures told.

Everything but `finish` is called with the outbox's lock held; `finish` without it, because callbacks may send.
"""

import time
from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from fencepost.client.error_table import REFRESH_METADATA, Category, error_of, known_code, meaning_of
from fencepost.client.exceptions import ClientError, Timeout
from fencepost.client.producer.batch import ProducerBatch
from fencepost.client.producer.numbering import Numbering
from fencepost.client.producer.outbox import Outbox
from fencepost.client.producer.partition_queue import PartitionQueue
from fencepost.client.producer.produce_request import BatchAnswer
from fencepost.client.settings import ProducerSettings
from fencepost.errors import ErrorCode

# What an answer about a batch leads to: success, another try, a new number, or failure. Pure.


STORED = frozenset({ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER})
NUMBER_REFUSED = frozenset(
    {ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.INVALID_PRODUCER_EPOCH}
)
CERTAINLY_NOT_STORED = frozenset(
    {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.CONCURRENT_TRANSACTIONS}
)
"""Retriable refusals that come before the append."""


class Verdict(Enum):
    SUCCEED = auto()
    RETRY = auto()
    RENUMBER = auto()
    """The partition does not have it, and will not take it under this number."""
    FAIL = auto()


class Outcome(NamedTuple):
    verdict: Verdict
    error: ClientError | None = None
    is_certain: bool = True
    """Of a failure: the partition certainly does not have the batch."""


def judge(
    answer: BatchAnswer, queue: PartitionQueue, *, can_restart: bool, may_retry: bool, has_expired: bool, retries: int
) -> Outcome:
    code = known_code(answer.error_code)
    if code in STORED:
        return Outcome(Verdict.SUCCEED)
    batch = answer.batch
    what = f"{batch.topic_partition} ({batch.record_count} records)"
    error = error_of(answer.error_code, "Produce", what=what, explanation=answer.explanation)
    can_try_again = may_retry and not has_expired and batch.attempts <= retries
    if queue.is_numbered and code in NUMBER_REFUSED:
        if code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and queue.has_unresolved_before(batch):
            return Outcome(Verdict.RETRY if can_try_again else Verdict.FAIL, error)
        return Outcome(Verdict.RENUMBER if can_restart and can_try_again else Verdict.FAIL, error)
    if meaning_of(answer.error_code, "Produce").category is Category.RETRIABLE:
        is_certain = code in CERTAINLY_NOT_STORED and batch.attempts == 1
        return Outcome(Verdict.RETRY if can_try_again else Verdict.FAIL, error, is_certain)
    return Outcome(Verdict.FAIL, error)


CONCURRENT_PAUSE_S, CONCURRENT_PAUSE_MAX_S = 0.002, 0.02
"""The previous transaction is a few milliseconds from its end, mostly one or two; the pause doubles."""


class Settled(NamedTuple):
    """A batch that is done: stored as `answer` says, or given up with `error`."""

    batch: ProducerBatch
    error: ClientError | None = None
    answer: BatchAnswer | None = None


class Settlement:
    def __init__(self, outbox: Outbox, numbering: Numbering, settings: ProducerSettings) -> None:
        self._outbox = outbox
        self._accumulator = outbox.accumulator
        self._numbering = numbering
        self._settings = settings

    def settle(self, answers: Sequence[BatchAnswer]) -> list[Settled]:
        """What is done; the rest is back in its queue, to be sent again."""
        now_s = time.monotonic()
        settled = [one for answer in answers if (one := self._settle(answer, now_s)) is not None]
        self._release(settled)
        return settled

    def put_back(self, batches: Sequence[ProducerBatch], problem: ClientError) -> list[Settled]:
        """Their connection is gone and their fate unknown: they go again as they are, or are given up."""
        now_s = time.monotonic()
        settled = []
        for batch in batches:
            queue = self._accumulator.queue(batch.topic_partition)
            queue.trouble = problem
            can_try_again = self._numbering.may_retry and batch.attempts <= self._settings.retries
            if can_try_again and not self._accumulator.has_expired(batch, now_s):
                queue.put_back(batch, retry_at_s=now_s + self._pause_s(batch, ErrorCode.NETWORK_EXCEPTION))
            else:
                queue.failed(batch, is_certain=False)
                settled.append(self._given_up(batch, problem))
        self._release(settled)
        return settled

    def drop_waiting(self, error: ClientError) -> list[Settled]:
        """Give up everything that is not on its way."""
        settled = [self._given_up(batch, error) for batch in self._accumulator.drop_waiting()]
        self._outbox.memory_was_freed()
        return settled

    def drop_what_cannot_go(self, now_s: float) -> list[Settled]:
        """Everything that waits, if the producer is in trouble; else what has waited too long."""
        problem = self._numbering.problem
        settled = [] if problem is None else self.drop_waiting(problem)
        for batch in self._accumulator.drop_expired(now_s):
            error = Timeout(
                f"{batch.topic_partition}: {batch.record_count} records were not delivered within "
                f"delivery.timeout.ms={self._settings.delivery_timeout_ms}, after {batch.attempts} tries"
                f"{self._accumulator.queue(batch.topic_partition).told_trouble}"
            )
            settled.append(self._given_up(batch, error))
        if settled:
            self._outbox.memory_was_freed()
        return settled

    def drop_all(self, error: ClientError) -> list[Settled]:
        """The end: also what is on its way."""
        settled = [self._given_up(batch, error) for batch in self._accumulator.incomplete]
        self._release(settled)
        return settled

    def _settle(self, answer: BatchAnswer, now_s: float) -> Settled | None:
        batch = answer.batch
        queue = self._accumulator.queue(batch.topic_partition)
        outcome = judge(
            answer,
            queue,
            can_restart=self._numbering.can_restart,
            may_retry=self._numbering.may_retry,
            has_expired=self._accumulator.has_expired(batch, now_s),
            retries=self._settings.retries,
        )
        queue.trouble = outcome.error
        if outcome.verdict is Verdict.SUCCEED:
            queue.succeeded(batch)
            return Settled(batch, answer=answer)
        if outcome.verdict is Verdict.RETRY:
            queue.put_back(batch, retry_at_s=now_s + self._pause_s(batch, answer.error_code))
            return None
        if outcome.verdict is Verdict.RENUMBER:
            queue.put_back(batch, retry_at_s=now_s, is_refused=True)
            return None
        assert outcome.error is not None
        queue.failed(batch, is_certain=outcome.is_certain)
        return self._given_up(batch, outcome.error)

    def _given_up(self, batch: ProducerBatch, error: ClientError) -> Settled:
        self._numbering.batch_failed(batch, error)
        return Settled(batch, error)

    def _pause_s(self, batch: ProducerBatch, error_code: int) -> float:
        if error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            return 0.0
        if error_code == ErrorCode.CONCURRENT_TRANSACTIONS:
            first_s, longest_s = CONCURRENT_PAUSE_S, CONCURRENT_PAUSE_MAX_S
        else:
            first_s, longest_s = self._settings.retry_backoff_ms / 1000, self._settings.retry_backoff_max_ms / 1000
        return min(first_s * 2.0 ** min(batch.attempts - 1, 32), longest_s)

    def _release(self, settled: Sequence[Settled]) -> None:
        for one in settled:
            self._accumulator.release(one.batch)
        if settled:
            self._outbox.memory_was_freed()


def asks_for_metadata(answers: Sequence[BatchAnswer]) -> bool:
    return any(known_code(answer.error_code) in REFRESH_METADATA for answer in answers)


def finish(settled: Sequence[Settled]) -> None:
    """Tell who waits."""
    for batch, error, answer in settled:
        if error is not None:
            batch.delivery.fail(error)
        elif answer is not None:
            batch.delivery.succeed(answer.base_offset, answer.append_time_ms)
