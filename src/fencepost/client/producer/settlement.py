"""Batches that come to an end, or back: answers applied to their queues, memory given back, futures completed.

Queues and memory change with the outbox's lock held; futures are completed without it, because callbacks may send.
"""

import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fencepost.client.error_table import error_of, known_code
from fencepost.client.exceptions import ClientError, RetriableError, Timeout
from fencepost.client.producer.batch import ProducerBatch
from fencepost.client.producer.numbering import Numbering
from fencepost.client.producer.outbox import Outbox
from fencepost.client.producer.produce_request import BatchAnswer
from fencepost.client.settings import ProducerSettings
from fencepost.errors import ErrorCode

STORED = frozenset({ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER})
NUMBER_REFUSED = frozenset(
    {ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.INVALID_PRODUCER_EPOCH}
)
CERTAINLY_NOT_STORED = frozenset(
    {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.CONCURRENT_TRANSACTIONS}
)
"""Retriable refusals that come before the append."""
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

    def settle(self, answers: Sequence[BatchAnswer]) -> None:
        """What is not done by its answer is back in its queue, to be sent again."""
        now_s = time.monotonic()
        with self._outbox.lock:
            settled = self._released(self._settle(answer, now_s) for answer in answers)
        _finish(settled)

    def put_back(self, batches: Sequence[ProducerBatch], problem: ClientError) -> None:
        """Their connection is gone and their fate unknown: they go again as they are, or are given up."""
        now_s = time.monotonic()
        with self._outbox.lock:
            settled = self._released(self._put_back(batch, problem, now_s) for batch in batches)
        _finish(settled)

    def drop_waiting(self, error: ClientError) -> None:
        """Give up everything that is not on its way."""
        with self._outbox.lock:
            settled = self._released(self._given_up(batch, error) for batch in self._accumulator.drop_waiting())
        _finish(settled)

    def drop_what_cannot_go(self, now_s: float) -> None:
        """Everything that waits, if the producer is in trouble; else what has waited too long."""
        with self._outbox.lock:
            # Asked with the lock held: what waits then is of the transaction that is in trouble, and not of the next.
            problem = self._numbering.problem
            lost = [] if problem is None else [(batch, problem) for batch in self._accumulator.drop_waiting()]
            lost += [(batch, self._expired(batch)) for batch in self._accumulator.drop_expired(now_s)]
            settled = self._released(self._given_up(batch, error) for batch, error in lost)
        _finish(settled)

    def drop_all(self, error: ClientError) -> None:
        """The end: also what is on its way."""
        with self._outbox.lock:
            settled = self._released(self._given_up(batch, error) for batch in self._accumulator.incomplete)
        _finish(settled)

    def _settle(self, answer: BatchAnswer, now_s: float) -> Settled | None:
        batch, code = answer.batch, known_code(answer.error_code)
        queue = self._accumulator.queue(batch.topic_partition)
        if code in STORED:
            queue.trouble = None
            queue.succeeded(batch)
            return Settled(batch, answer=answer)
        what = f"{batch.topic_partition} ({batch.record_count} records)"
        error = queue.trouble = error_of(answer.error_code, "Produce", what=what, explanation=answer.explanation)
        is_early = code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and queue.has_unresolved_before(batch)
        is_retriable = isinstance(error, RetriableError)
        if self._can_go_again(batch, now_s):
            if is_retriable or (queue.is_numbered and is_early):
                queue.put_back(batch, retry_at_s=now_s + self._pause_s(batch, code))
                return None
            if queue.is_numbered and code in NUMBER_REFUSED and self._numbering.can_restart:
                # The partition does not have it, and will not take it under this number.
                queue.put_back(batch, retry_at_s=now_s, is_refused=True)
                return None
        queue.failed(batch, is_certain=not is_retriable or (code in CERTAINLY_NOT_STORED and batch.attempts == 1))
        return self._given_up(batch, error)

    def _put_back(self, batch: ProducerBatch, problem: ClientError, now_s: float) -> Settled | None:
        queue = self._accumulator.queue(batch.topic_partition)
        queue.trouble = problem
        if self._can_go_again(batch, now_s):
            queue.put_back(batch, retry_at_s=now_s + self._pause_s(batch, ErrorCode.NETWORK_EXCEPTION))
            return None
        queue.failed(batch, is_certain=False)
        return self._given_up(batch, problem)

    def _can_go_again(self, batch: ProducerBatch, now_s: float) -> bool:
        may_retry = self._numbering.may_retry and batch.attempts <= self._settings.retries
        return may_retry and not self._accumulator.has_expired(batch, now_s)

    def _given_up(self, batch: ProducerBatch, error: ClientError) -> Settled:
        self._numbering.batch_failed(batch, error)
        return Settled(batch, error)

    def _expired(self, batch: ProducerBatch) -> ClientError:
        return Timeout(
            f"{batch.topic_partition}: {batch.record_count} records were not delivered within "
            f"delivery.timeout.ms={self._settings.delivery_timeout_ms}, after {batch.attempts} tries"
            f"{self._accumulator.queue(batch.topic_partition).last_trouble}"
        )

    def _pause_s(self, batch: ProducerBatch, code: ErrorCode) -> float:
        if code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            return 0.0
        if code is ErrorCode.CONCURRENT_TRANSACTIONS:
            first_s, longest_s = CONCURRENT_PAUSE_S, CONCURRENT_PAUSE_MAX_S
        else:
            first_s, longest_s = self._settings.retry_backoff_ms / 1000, self._settings.retry_backoff_max_ms / 1000
        return min(first_s * 2.0 ** min(batch.attempts - 1, 32), longest_s)

    def _released(self, settled: Iterable[Settled | None]) -> list[Settled]:
        """Those that are done; their memory is free."""
        done = [one for one in settled if one is not None]
        for one in done:
            self._accumulator.release(one.batch)
        if done:
            self._outbox.memory_was_freed()
        return done


def _finish(settled: Sequence[Settled]) -> None:
    for batch, error, answer in settled:
        if error is not None:
            batch.delivery.fail(error)
        elif answer is not None:
            batch.delivery.succeed(answer.base_offset, answer.append_time_ms)
