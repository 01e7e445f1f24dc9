"""What the broker does by the clock: aborts of timed-out transactions, expiry, checkpoints, rounds of cleaning.

Each task has its own interval. Deadlines are monotonic, so a step of the wall clock makes nothing happen early. What a
full disk leaves no room for is put off: every task looks anew at the state when its next time comes.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost.broker.cleaner import Cleaner
from fencepost.broker.state import dump_checkpoint
from fencepost.groups.expiry import decide_expiry
from fencepost.journal.disk import DiskFull
from fencepost.partition.apply import expire_producers, resume_producers
from fencepost.transactions.ending import ExpirySweep, decide_abort, sweep_timed_out
from fencepost.types import Now

if TYPE_CHECKING:
    from fencepost.broker.core import BrokerCore

logger = logging.getLogger("fencepost.broker")

FIRST_CLEANING_MS = 30_000
"""A broker that never runs for long is cleaned too."""
AT_ONCE_MS = 0


@dataclass(slots=True)
class Task:
    interval_ms: int
    run: Callable[[Now], None]
    due_ms: int


class Housekeeping:
    def __init__(self, core: "BrokerCore") -> None:
        self._core = core
        self.cleaner = Cleaner(core)
        self._tasks: list[Task] = []
        self._expiry_sweep: ExpirySweep | None = None
        self._checkpointed_bytes = 0

    def start(self, now: Now) -> None:
        settings, transactions = self._core.settings, self._core.state.transactions
        self._expiry_sweep = ExpirySweep(transactions, now_ms=now.wall_ms, monotonic_ms=now.monotonic_ms)
        for log in self._core.state.logs_by_ref.values():
            resume_producers(log.state, wall_ms=now.wall_ms, monotonic_ms=now.monotonic_ms)
        schedule = (
            (settings.transaction_abort_timed_out_transaction_cleanup_interval_ms, self._abort_timed_out),
            (settings.transaction_remove_expired_transaction_cleanup_interval_ms, self._expire_transactional_ids),
            (settings.producer_id_expiration_check_interval_ms, self._expire_producers),
            (settings.offsets_retention_check_interval_ms, self._expire_offsets),
        )
        self._tasks = [Task(interval_ms, run, now.monotonic_ms + interval_ms) for interval_ms, run in schedule]
        interval_ms = settings.log_retention_check_interval_ms
        first_ms = now.monotonic_ms + min(interval_ms, FIRST_CLEANING_MS)
        self._tasks.append(Task(interval_ms, self.cleaner.start_round, first_ms))

    @property
    def wake_at_ms(self) -> int | None:
        if self.cleaner.is_scanning:
            return AT_ONCE_MS
        return min((task.due_ms for task in self._tasks), default=None)

    def run_due(self, now: Now) -> None:
        for task in self._tasks:
            if task.due_ms <= now.monotonic_ms:
                task.due_ms = now.monotonic_ms + task.interval_ms
                try:
                    task.run(now)
                except DiskFull as problem:
                    logger.warning("put off for %d ms: %s", task.interval_ms, problem)
        self.cleaner.step()

    def after_commit(self) -> None:
        """A checkpoint for every segment's worth of entries, so that a start replays about one segment."""
        if self._core.writer.appended_bytes - self._checkpointed_bytes >= self._core.settings.log_segment_bytes:
            self.append_checkpoint()
        self.cleaner.after_commit()

    def append_checkpoint(self) -> None:
        """If there is room: without one a start takes longer and cleaning waits, nothing else."""
        self._checkpointed_bytes = self._core.writer.appended_bytes
        try:
            self._core.journal.append_checkpoint(dump_checkpoint(self._core.state))
        except DiskFull as problem:
            logger.warning("no checkpoint: %s", problem)

    def _abort_timed_out(self, now: Now) -> None:
        core = self._core
        for transactional_id in sweep_timed_out(core.state.transactions, monotonic_ms=now.monotonic_ms):
            decision = decide_abort(core.state.transactions, transactional_id, now_ms=now.wall_ms)
            core.transactions.run(decision, now_ms=now.wall_ms)

    def _expire_transactional_ids(self, now: Now) -> None:
        core = self._core
        if self._expiry_sweep is not None:
            decision = self._expiry_sweep.decide(core.state.transactions, monotonic_ms=now.monotonic_ms)
            core.transactions.run(decision, now_ms=now.wall_ms)

    def _expire_producers(self, now: Now) -> None:
        expiration_ms = self._core.settings.producer_id_expiration_ms
        for log in self._core.state.logs_by_ref.values():
            expire_producers(log.state, now_ms=now.monotonic_ms, expiration_ms=expiration_ms)

    def _expire_offsets(self, now: Now) -> None:
        for decision in decide_expiry(self._core.state.groups, now=now):
            self._core.groups.run(decision, now=now)
