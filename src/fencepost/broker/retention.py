"""Retention by time and size: how far the start of each partition may move up, in the words of the catalogue.

Only topics whose cleanup.policy contains `delete` have it, and nothing at or above the last stable offset ever goes: it
is undecided, or its readers have not been allowed to see it. The move is journalled first; the bytes below it are
dropped when the journal is cleaned.
"""

from fencepost.broker.catalogue import CatalogueRecord
from fencepost.broker.partition_log import PartitionLog
from fencepost.broker.state import BrokerState
from fencepost.journal.journal import Journal
from fencepost.journal.retention import NO_LIMIT, Retention
from fencepost.partition.visibility import last_stable_offset
from fencepost.settings import TopicSettings


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


def log_start_record(starts: dict[PartitionLog, int]) -> CatalogueRecord:
    return {"kind": "log-start-moved", "starts": [[log.partition_ref, start] for log, start in starts.items()]}


def _retention_of(settings: TopicSettings) -> Retention | None:
    if "delete" not in settings.cleanup_policy:
        return None
    if settings.retention_ms == NO_LIMIT and settings.retention_bytes == NO_LIMIT:
        return None
    return Retention(settings.retention_ms, settings.retention_bytes)
