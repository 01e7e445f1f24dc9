"""Which producers a partition may forget: silent for long, and with no transaction open.

A producer's clock is that of its own batches: their largest timestamp. Forgetting is not journalled. A restart may
remember a forgotten producer until the next sweep; that is harmless, since an unknown producer may start anywhere
and a fold follows whatever was accepted.
"""

from typing import NamedTuple

from fencepost.partition.partition import PartitionState


class ExpiredProducers(NamedTuple):
    producer_ids: list[int]
    guard_producer_ids: list[int]
    """Those whose verification was asked for long ago and never followed by a batch or a marker."""


def decide_expired_producers(state: PartitionState, *, now_ms: int, expiration_ms: int) -> ExpiredProducers:
    horizon_ms = now_ms - expiration_ms
    return ExpiredProducers(
        [
            producer_id
            for producer_id, producer in state.producers.items()
            if producer.last_timestamp <= horizon_ms and not producer.has_open_transaction
        ],
        [producer_id for producer_id, guard in state.guards.items() if guard.created_ms <= horizon_ms],
    )


def apply_expired_producers(state: PartitionState, expired: ExpiredProducers) -> None:
    for producer_id in expired.producer_ids:
        state.producers.pop(producer_id, None)
    for producer_id in expired.guard_producer_ids:
        state.guards.pop(producer_id, None)
