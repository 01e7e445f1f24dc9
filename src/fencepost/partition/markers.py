"""Whether the coordinator may end a producer's transaction on a partition with a marker.

Up to transaction version 1 a marker carries the epoch of the data, so it may not be below what the partition has seen.
In version 2 (KIP-890) it carries the next epoch, so it must be above it: a late marker cannot end the next
transaction. The exception is a marker written twice, after a lost answer or a restart of the coordinator: equal
epoch and nothing open. Refusing that would leave the transaction prepared forever (KAFKA-19999).
"""

from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.append import Append
from fencepost.partition.partition import PartitionState
from fencepost.partition.producer_state import ProducerState

PRODUCER_EPOCH_MAX = 32767
"""Reserved for the coordinator, so that it can always fence: no transaction of a client can be open with it."""


def decide_marker(
    state: PartitionState, *, producer_id: int, producer_epoch: int, coordinator_epoch: int, transaction_version: int
) -> Append | Refusal:
    producer = state.producers.get(producer_id)
    if producer is not None:
        if _is_epoch_too_low(producer, producer_epoch, transaction_version):
            return Refusal(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"marker of producer {producer_id} has epoch {producer_epoch} (transaction version "
                f"{transaction_version}), the partition has seen {producer.producer_epoch}",
            )
        if coordinator_epoch < producer.coordinator_epoch:
            return Refusal(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"marker of producer {producer_id} comes from coordinator epoch {coordinator_epoch}, "
                f"the partition has seen {producer.coordinator_epoch}",
            )
    return Append(state.end_offset, state.leader_epochs.latest)


def _is_epoch_too_low(producer: ProducerState, marker_epoch: int, transaction_version: int) -> bool:
    if transaction_version < 2 or marker_epoch != producer.producer_epoch:
        return marker_epoch < producer.producer_epoch
    return producer.has_open_transaction and marker_epoch != PRODUCER_EPOCH_MAX
