"""Whether the coordinator must be asked before a transactional batch is appended, and with which guard (KIP-890).

While the coordinator is asked a marker may end the transaction. The marker clears the guard, and the append, which
must show the guard that is current by then, is refused instead of opening a transaction that nobody ends.
"""

from enum import Enum
from typing import NamedTuple

from fencepost.errors import ErrorCode, Refusal
from fencepost.partition.partition import PartitionState
from fencepost.partition.verification_guard import VerificationGuard


class NothingToAsk(Enum):
    """The transaction is open on this partition, so the coordinator knows of it."""

    NOTHING_TO_ASK = "nothing to ask"


NOTHING_TO_ASK = NothingToAsk.NOTHING_TO_ASK


class AskCoordinator(NamedTuple):
    """Install the guard with `apply_verification`, ask, and show `guard.guard_id` to `decide_append`."""

    producer_id: int
    guard: VerificationGuard


def decide_verification(
    state: PartitionState,
    *,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    supports_epoch_bump: bool,
    now_ms: int,
) -> NothingToAsk | AskCoordinator | Refusal:
    producer = state.producers.get(producer_id)
    if producer is not None:
        if producer_epoch < producer.producer_epoch:
            return Refusal(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer {producer_id} has epoch {producer_epoch}, the partition has seen {producer.producer_epoch}: "
                "the transaction has ended or another instance has taken over; abort",
            )
        if producer.has_open_transaction_of(producer_epoch):
            return NOTHING_TO_ASK
    guard = state.guards.get(producer_id)
    if guard is None:
        guard = VerificationGuard(state.next_guard_id, producer_epoch, base_sequence, supports_epoch_bump, now_ms)
    else:
        guard = guard.joined_by(
            producer_epoch=producer_epoch, base_sequence=base_sequence, supports_epoch_bump=supports_epoch_bump
        )
    return AskCoordinator(producer_id, guard)


def apply_verification(state: PartitionState, ask: AskCoordinator) -> None:
    state.guards[ask.producer_id] = ask.guard
    state.next_guard_id = max(state.next_guard_id, ask.guard.guard_id + 1)
