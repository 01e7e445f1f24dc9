"""The batch token: what the ledger says about a micro-batch, and what follows from it. Pure.

A token commits in the transaction of its micro-batch. `judge` compares the one that is last in the ledger with the
micro-batch that Spark has planned: publish, done already, or `LedgerDisagrees`. It never skips: "done" needs every
field equal.
"""

import json
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from fencepost.spark.sink.errors import LedgerDisagrees

FORMAT_VERSION = 1

Offsets = tuple[Any, ...]
"""One parsed JSON value for each source of the query, in the query's order; None for a source without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchToken:
    sink: str
    query_id: str
    run_id: str
    """Which start of the query wrote it."""
    writer: str
    """Which sink object in which process wrote it."""
    batch_id: int
    start: Offsets | None
    """None in a query's first micro-batch: Spark writes down ends only."""
    end: Offsets
    record_count: int = 0

    def encode(self) -> bytes:
        fields = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps({"version": FORMAT_VERSION, **fields}, separators=(",", ":"), sort_keys=True).encode()

    def with_records(self, record_count: int) -> "BatchToken":
        return replace(self, record_count=record_count)

    def __str__(self) -> str:
        return (
            f"query {self.query_id} (run {self.run_id}), micro-batch {self.batch_id}, "
            f"from {_shown(self.start)} to {_shown(self.end)}"
        )


def decode_token(value: bytes) -> BatchToken:
    fields = json.loads(value)
    version = fields.pop("version", None)
    if version != FORMAT_VERSION:
        raise LedgerDisagrees(
            f"the ledger's last token has format {version}, and this version of Fencepost knows {FORMAT_VERSION}: "
            "run the version that wrote it, or a later one"
        )
    start = fields.pop("start")
    end = fields.pop("end")
    return BatchToken(start=None if start is None else tuple(start), end=tuple(end), **fields)


class Verdict(Enum):
    PUBLISH = auto()
    DONE = auto()


def judge(last: BatchToken | None, planned: BatchToken, *, may_adopt: bool, is_own_retry: bool = False) -> Verdict:
    """What to do about `planned` when `last` is the newest token. Raises `LedgerDisagrees` with both sides.

    `is_own_retry`: this sink has tried this micro-batch before and does not know what became of it.
    """
    if last is None:
        if planned.batch_id == 0 or may_adopt:
            return Verdict.PUBLISH
        raise _disagreement(None, planned, _NO_TOKEN)
    if last.query_id != planned.query_id:
        if may_adopt:
            return Verdict.PUBLISH
        raise _disagreement(last, planned, _OTHER_QUERY)
    if planned.batch_id == last.batch_id:
        return _judge_same(last, planned, is_own_retry)
    if planned.batch_id < last.batch_id:
        raise _disagreement(last, planned, _OLDER_CHECKPOINT)
    if planned.start != last.end:
        raise _disagreement(last, planned, _OTHER_START)
    return Verdict.PUBLISH


def _judge_same(last: BatchToken, planned: BatchToken, is_own_retry: bool) -> Verdict:
    if (last.start, last.end) != (planned.start, planned.end):
        raise _disagreement(last, planned, _OTHER_OFFSETS)
    is_own = last.writer == planned.writer and is_own_retry
    if last.run_id == planned.run_id and not is_own:
        raise _disagreement(last, planned, _SAME_RUN)
    return Verdict.DONE


_NO_TOKEN = (
    "the ledger is empty, and this is not the first micro-batch of its query: the ledger was deleted, the sink was "
    "renamed, or "
    "the query had another sink before. If nothing of this query was ever written by a sink of this name, "
    "start it once with ledger='adopt'"
)
_OTHER_QUERY = (
    "the ledger belongs to another query: the checkpoint was deleted or replaced, or two queries use one name. "
    "Restore the checkpoint, or give "
    "the changed query a name of its own. To go on under the old name, let the source start exactly where the ledger "
    "ends "
    "(startingOffsets) and start once with ledger='adopt'"
)
_OLDER_CHECKPOINT = (
    "the checkpoint is older than what was committed: it was copied or restored, or another driver runs this query and "
    "is ahead of this one. Run one driver only. If there is no other, restore the newest checkpoint, or start a new "
    "one whose source starts where the ledger ends, once with ledger='adopt'"
)
_OTHER_START = (
    "the micro-batch does not start where the last committed one ended: going on would lose or repeat what lies "
    "between. "
    "Restore the checkpoint that belongs to the ledger"
)
_OTHER_OFFSETS = (
    "this micro-batch is committed with other offsets: another driver runs this query, or Spark has planned the "
    "micro-batch again, as it does when the machine lost power before the checkpoint reached the disk. Run one driver "
    "only. If there is no other, restore the checkpoint, or start a new one whose source starts where the ledger ends, "
    "once with ledger='adopt'"
)
_SAME_RUN = (
    "this very run has committed this micro-batch already: two sinks of one name are at work in one query. Give each a "
    "name of its own, or write all DataFrames with one sink"
)


def _disagreement(last: BatchToken | None, planned: BatchToken, reason: str) -> LedgerDisagrees:
    ledger = "no token" if last is None else str(last)
    return LedgerDisagrees(f"sink '{planned.sink}': {reason}.\n  ledger:     {ledger}\n  checkpoint: {planned}")


def _shown(offsets: Offsets | None) -> str:
    return "the beginning" if offsets is None else json.dumps(list(offsets), separators=(",", ":"))
