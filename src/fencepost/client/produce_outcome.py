"""What an answer about a batch leads to: success, another try, a new number, or failure. Pure."""

from enum import Enum, auto
from typing import NamedTuple

from fencepost.client.error_table import Category, error_of, known_code, meaning_of
from fencepost.client.exceptions import ClientError
from fencepost.client.partition_queue import PartitionQueue
from fencepost.client.produce_request import BatchAnswer
from fencepost.errors import ErrorCode

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
