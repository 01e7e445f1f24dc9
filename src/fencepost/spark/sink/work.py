"""What is to be written once: a micro-batch of a query, or a batch DataFrame with a token of the caller's."""

from dataclasses import dataclass, field
from typing import Protocol

from fencepost.spark.sink.token import BatchToken, Verdict, decode_token, judge
from fencepost.types import TopicPartition

STREAM_KEY = b"token"
BATCH_KEY_PREFIX = b"batch:"


class Work(Protocol):
    @property
    def key(self) -> bytes:
        """Under which the ledger keeps it."""

    @property
    def offsets(self) -> dict[TopicPartition, int]:
        """Source offsets that commit with it."""

    def judge(self, last: bytes | None, *, is_own_retry: bool) -> Verdict: ...

    def token(self, record_count: int) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatchWork:
    planned: BatchToken
    may_adopt: bool
    offsets: dict[TopicPartition, int]
    key: bytes = STREAM_KEY

    def judge(self, last: bytes | None, *, is_own_retry: bool) -> Verdict:
        token = None if last is None else decode_token(last)
        return judge(token, self.planned, may_adopt=self.may_adopt, is_own_retry=is_own_retry)

    def token(self, record_count: int) -> bytes:
        return self.planned.with_records(record_count).encode()

    def __str__(self) -> str:
        return f"micro-batch {self.planned.batch_id} of query {self.planned.query_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWork:
    """Done when its token is in the ledger, from any writer; without a token it is never done."""

    given_token: str | None
    writer: str
    offsets: dict[TopicPartition, int] = field(default_factory=dict)

    @property
    def key(self) -> bytes:
        return BATCH_KEY_PREFIX + (self.writer if self.given_token is None else self.given_token).encode()

    def judge(self, last: bytes | None, *, is_own_retry: bool) -> Verdict:
        return Verdict.PUBLISH if last is None else Verdict.DONE

    def token(self, record_count: int) -> bytes:
        return f'{{"version":1,"writer":"{self.writer}","record_count":{record_count}}}'.encode()

    def __str__(self) -> str:
        return (
            "a batch DataFrame" if self.given_token is None else f"the batch DataFrame with token '{self.given_token}'"
        )
