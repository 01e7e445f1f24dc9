"""Rounds of cleaning: find out what the journal need not hold any more, and have it dropped.

A round begins with retention, which moves log starts. Then compacted partitions are scanned, one slice a tick. What is
not wanted is written down as a policy, and two checkpoints are appended if the garbage is newer than the last ones.
When all that the policy relies on is synced (a crash must not bring back a topic whose records are gone), the shell
takes one piece of work after the other: `begin`, run it on a thread of its own, `finish`. A full disk or a damaged
segment ends the round; the next one tries again.

Retention by time and size is only for topics whose cleanup.policy contains `delete`, and nothing at or above the last
stable offset ever goes: it is undecided, or its readers have not been allowed to see it. The move of a log's start is
journalled first; the bytes below it are dropped when the journal is cleaned.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from fencepost.broker.catalogue import CATALOGUE_REF, FIRST_PARTITION_REF
from fencepost.broker.compaction import CompactionMemory, CompactionPlan, CompactionScan
from fencepost.broker.fetching import retry_fetches
from fencepost.broker.partition_log import PartitionLog
from fencepost.broker.state import BrokerState
from fencepost.errors import CorruptLog, FencepostError
from fencepost.journal.cleaning import Cleaning
from fencepost.journal.disk import DiskFull
from fencepost.journal.journal import Journal
from fencepost.journal.retention import NO_LIMIT, Retention
from fencepost.partition.visibility import last_stable_offset
from fencepost.settings import TopicSettings
from fencepost.types import Buffer, Now

if TYPE_CHECKING:
    from fencepost.broker.core import BrokerCore

logger = logging.getLogger("fencepost.cleaning")

NOTHING_WANTED = 2**63 - 1
COMPACTION_KEYS_MAX = 500_000
"""Keys of one partition that a scan holds in memory, about 135 bytes each."""
COPIED_PER_FREED_MAX = 20
"""Compaction may have to copy the whole journal; it waits until that frees one byte for so many."""
CHEAP_SEGMENTS_MAX = 4
"""A journal of so few segments is copied for less."""
CHECKPOINTS_NEEDED = 2


@dataclass(frozen=True, slots=True)
class BrokerCleaningPolicy:
    """What is still wanted of the journal, as the broker sees it at one moment; it is asked on another thread later.

    Below its log start a partition is not wanted. A partition reference that the catalogue does not know belongs to a
    deleted topic and is not wanted at all, unless it was given out after the moment. The catalogue's own stream is not
    wanted either: the journal only asks about what two checkpoints cover, and they hold the whole catalogue.
    """

    start_offsets: Mapping[int, int]
    next_ref: int
    plans: Mapping[int, CompactionPlan]

    def start_offset(self, partition_ref: int) -> int:
        if partition_ref >= self.next_ref:
            return 0
        return self.start_offsets.get(partition_ref, NOTHING_WANTED)

    def is_compacted(self, partition_ref: int) -> bool:
        return partition_ref in self.plans

    def compact(self, partition_ref: int, batch: memoryview) -> Buffer | None:
        return self.plans[partition_ref].compact(batch)


def take_policy(state: BrokerState, plans: Mapping[int, CompactionPlan]) -> BrokerCleaningPolicy:
    """Plans that have nothing to do would only make the journal read segments in vain."""
    starts = {ref: log.state.log_start_offset for ref, log in state.logs_by_ref.items() if ref != CATALOGUE_REF}
    return BrokerCleaningPolicy(
        start_offsets=MappingProxyType(starts),
        next_ref=state.catalogue.next_ref,
        plans=MappingProxyType({ref: plan for ref, plan in plans.items() if not plan.is_empty}),
    )


def decide_log_starts(state: BrokerState, journal: Journal, *, now_ms: int) -> dict[PartitionLog, int]:
    """The partitions whose start moves, and where to."""
    starts: dict[PartitionLog, int] = {}
    for topic in state.catalogue.topics.values():
        retention = _retention_of(topic.settings)
        if retention is None:
            continue
        for partition_ref in topic.partition_refs:
            log = state.logs_by_ref[partition_ref]
            end_offset = last_stable_offset(log.state)
            start = journal.retention_start_offset(partition_ref, retention, end_offset=end_offset, now_ms=now_ms)
            if start is not None and start > log.state.log_start_offset:
                starts[log] = start
    return starts


def _retention_of(settings: TopicSettings) -> Retention | None:
    if "delete" not in settings.cleanup_policy:
        return None
    if settings.retention_ms == NO_LIMIT and settings.retention_bytes == NO_LIMIT:
        return None
    return Retention(settings.retention_ms, settings.retention_bytes)


class Cleaner:
    def __init__(self, core: "BrokerCore", *, keys_max: int = COMPACTION_KEYS_MAX) -> None:
        self._core = core
        self._keys_max = keys_max
        self._memories: dict[int, CompactionMemory] = {}
        self._scanning: Iterator[None] | None = None
        self._policy: BrokerCleaningPolicy | None = None
        self._policy_position = 0
        self._from_position = 1
        self._cleaning: Cleaning | None = None
        self._cleaned_policy: BrokerCleaningPolicy | None = None
        """Of the last round that went through."""
        self._cleaned_bytes = 0
        self._scanned_bytes = 0
        self._moved: list[PartitionLog] = []
        self._moved_position = 0

    # By the clock

    def start_round(self, now: Now) -> None:
        """Unless one is under way."""
        if self._scanning is None and self._policy is None:
            self._scanning = self._scan(now)

    @property
    def is_scanning(self) -> bool:
        return self._scanning is not None

    def step(self) -> None:
        """One slice of the scan."""
        if self._scanning is not None:
            try:
                next(self._scanning)
            except StopIteration:
                self._scanning = None
            except DiskFull as problem:
                self._scanning = None
                self._postpone(problem)

    def after_commit(self) -> None:
        """Readers that wait for records that retention has dropped are answered, once that is certain."""
        if self._moved and self._core.synced_position >= self._moved_position:
            moved, self._moved = self._moved, []
            retry_fetches(self._core, self._core.parked_fetches.waiting_for(moved), is_last_try=False)

    # For the shell

    @property
    def has_work(self) -> bool:
        is_free = self._policy is not None and self._cleaning is None
        return is_free and self._core.synced_position >= self._policy_position

    def begin(self) -> Cleaning | None:
        """The next piece of work: run it on any thread, then call `finish`."""
        if self._policy is None or not self.has_work:
            return None
        try:
            self._cleaning = self._core.journal.begin_cleaning(self._policy, from_position=self._from_position)
        except (DiskFull, CorruptLog) as problem:
            self._postpone(problem)
            return None
        if self._cleaning is None:
            self._end_round(self._policy)
        return self._cleaning

    def finish(self, cleaning: Cleaning, problem: FencepostError | None = None) -> None:
        """`problem` is the `DiskFull` or `CorruptLog` that the run raised; it has then changed nothing."""
        self._cleaning = None
        self._core.journal.finish_cleaning(cleaning)
        self._from_position = cleaning.next_position
        if problem is not None:
            self._postpone(problem)

    # A round

    def _move_log_starts(self, now: Now) -> None:
        core = self._core
        starts = decide_log_starts(core.state, core.journal, now_ms=now.wall_ms)
        if starts:
            moved = [[log.partition_ref, start] for log, start in starts.items()]
            core.append_to_catalogue({"kind": "log-start-moved", "starts": moved}, now_ms=now.wall_ms)
            self._moved += starts
            self._moved_position = core.journal.last_position

    def _scan(self, now: Now) -> Iterator[None]:
        self._move_log_starts(now)
        plans: dict[int, CompactionPlan] = {}
        emptied_aborts: list[tuple[int, list[int]]] = []
        gain_bytes = 0
        for log, settings in self._due_partitions(now):
            memory = self._memories[log.partition_ref]
            scan = CompactionScan(
                self._core.journal, log, memory, settings=settings, keys_max=self._keys_max, now_ms=now.wall_ms
            )
            try:
                yield from scan.steps()
            except CorruptLog as problem:
                logger.error("%s is not compacted: %s", log.topic_partition, problem)
                continue
            plans[log.partition_ref] = scan.plan()
            gain_bytes += scan.gain_bytes
            if scan.emptied_aborts:
                emptied_aborts.append((log.partition_ref, scan.emptied_aborts))
        if emptied_aborts:
            record = {"kind": "aborted-data-cleaned", "markers": emptied_aborts}
            self._core.append_to_catalogue(record, now_ms=now.wall_ms)
        self._take_policy(plans if self._is_worth_it(gain_bytes) else {})

    def _due_partitions(self, now: Now) -> list[tuple[PartitionLog, TopicSettings]]:
        """Compacted partitions that a scan may find something new in."""
        core = self._core
        has_new_segment = core.writer.appended_bytes - self._scanned_bytes >= core.settings.log_segment_bytes
        if has_new_segment:
            self._scanned_bytes = core.writer.appended_bytes
        memories: dict[int, CompactionMemory] = {}
        due = []
        for topic in core.state.catalogue.topics.values():
            if "compact" not in topic.settings.cleanup_policy:
                continue
            for ref in topic.partition_refs:
                memory = memories[ref] = self._memories.get(ref) or CompactionMemory()
                log = core.state.logs_by_ref[ref]
                has_grown = has_new_segment and memory.scanned_end_offset != log.state.end_offset
                if log.state.end_offset and (has_grown or memory.due_ms <= now.wall_ms):
                    due.append((log, topic.settings))
        self._memories = memories
        return due

    def _is_worth_it(self, gain_bytes: int) -> bool:
        stored_bytes = sum(map(self._core.journal.size_bytes, self._core.state.logs_by_ref))
        is_cheap = stored_bytes <= self._core.settings.log_segment_bytes * CHEAP_SEGMENTS_MAX
        return is_cheap or gain_bytes * COPIED_PER_FREED_MAX >= stored_bytes

    def _take_policy(self, plans: dict[int, CompactionPlan]) -> None:
        journal = self._core.journal
        policy = take_policy(self._core.state, plans)
        last = journal.last_position
        if self._has_new_garbage(policy) and journal.kept_checkpoints() != {last - 1, last}:
            for _ in range(CHECKPOINTS_NEEDED):
                self._core.housekeeping.append_checkpoint()
        self._policy = policy
        self._policy_position = journal.last_position
        self._from_position = 1

    def _has_new_garbage(self, policy: BrokerCleaningPolicy) -> bool:
        """Whether something is not wanted that the last round could not drop."""
        core = self._core
        if policy.plans or core.writer.appended_bytes - self._cleaned_bytes >= core.settings.log_segment_bytes:
            return True
        if self._cleaned_policy is None:
            return self._has_dead_bytes(policy)
        return any(
            policy.start_offset(ref) > start_offset for ref, start_offset in self._cleaned_policy.start_offsets.items()
        )

    def _has_dead_bytes(self, policy: BrokerCleaningPolicy) -> bool:
        journal = self._core.journal
        for ref in range(FIRST_PARTITION_REF, policy.next_ref):
            start_offset = policy.start_offset(ref)
            first_offset = journal.first_offset(ref) if start_offset else None
            if first_offset is not None and first_offset < start_offset:
                return True
        return False

    def _end_round(self, policy: BrokerCleaningPolicy) -> None:
        """Where a plan had an effect, another one may follow from it."""
        self._policy = None
        self._cleaned_policy = policy
        self._cleaned_bytes = self._core.writer.appended_bytes
        for ref in policy.plans:
            memory = self._memories[ref]
            if self._core.journal.size_bytes(ref) != memory.planned_size_bytes:
                memory.due_ms = 0

    def _postpone(self, problem: FencepostError) -> None:
        logger.warning("cleaning is postponed: %s", problem)
        self._policy = self._cleaned_policy = None
        for memory in self._memories.values():
            memory.due_ms = 0
