"""Which producers a partition may forget: silent for long, and with no transaction open.

Silence is counted on a monotonic clock, from the first sweep that finds nothing new: what a producer writes into its
records says nothing about when it was here, and a copy of old records must not cost it the memory that makes a resent
batch a duplicate. After a restart the age of its newest timestamp is taken for its silence so far.
Forgetting is not journalled. A restart may remember a forgotten producer until the next sweep; that is harmless, since
an unknown producer may start anywhere and a fold follows whatever was accepted.
"""

from typing import NamedTuple

from fencepost.partition.partition import PartitionState


class ExpiredProducers(NamedTuple):
    producer_ids: list[int]
    guard_producer_ids: list[int]
    """Those whose verification was asked for long ago and never followed by a batch or a marker."""
    newly_silent: dict[int, int]
    """Producer ids, and since when."""


def decide_expired_producers(state: PartitionState, *, now_ms: int, expiration_ms: int) -> ExpiredProducers:
    """`now_ms` is monotonic."""
    horizon_ms = now_ms - expiration_ms
    expired, newly_silent = [], {}
    for producer_id, producer in state.producers.items():
        if producer.has_open_transaction:
            continue
        if producer.silent_since_ms is None:
            newly_silent[producer_id] = now_ms
        elif producer.silent_since_ms <= horizon_ms:
            expired.append(producer_id)
    guards = [producer_id for producer_id, guard in state.guards.items() if guard.created_ms <= horizon_ms]
    return ExpiredProducers(expired, guards, newly_silent)


def apply_expired_producers(state: PartitionState, expired: ExpiredProducers) -> None:
    for producer_id in expired.producer_ids:
        state.producers.pop(producer_id, None)
    for producer_id in expired.guard_producer_ids:
        state.guards.pop(producer_id, None)
    for producer_id, since_ms in expired.newly_silent.items():
        state.producers[producer_id].silent_since_ms = since_ms


def resume_producers(state: PartitionState, *, wall_ms: int, monotonic_ms: int) -> None:
    """After recovery: how long each producer has been silent already, as far as anybody can tell."""
    for producer in state.producers.values():
        producer.silent_since_ms = monotonic_ms - max(0, wall_ms - producer.last_timestamp)
