"""A partition joins a transaction at the first batch that is written to it (KIP-890).

In the classic flow the client has added the partition before, and the coordinator is asked to confirm it; with an
epoch for every transaction the partition is added here. Either way the coordinator's record is in the journal before
the batch.
"""

from typing import TYPE_CHECKING

from fencepost.broker.call import Call
from fencepost.broker.partition_log import PartitionLog
from fencepost.errors import Refusal
from fencepost.partition.verification import AskCoordinator, apply_verification, decide_verification
from fencepost.transactions.decide_add_partitions import decide_add_partitions, verify_partitions
from fencepost.transactions.transaction import ProducerIdentity

if TYPE_CHECKING:
    from fencepost.broker.core import BrokerCore

EPOCH_PER_TRANSACTION = 2


def join_transaction(
    core: "BrokerCore",
    call: Call,
    log: PartitionLog,
    *,
    identity: ProducerIdentity,
    base_sequence: int,
    is_implicit_add: bool,
) -> int | Refusal | None:
    """The guard under which the coordinator agreed, None if it need not be asked, or its refusal, untranslated."""
    if not is_implicit_add and not core.settings.transaction_partition_verification_enable:
        return None
    question = decide_verification(
        log.state,
        producer_id=identity.producer_id,
        producer_epoch=identity.producer_epoch,
        base_sequence=base_sequence,
        supports_epoch_bump=is_implicit_add,
        now_ms=call.now.monotonic_ms,
    )
    if isinstance(question, Refusal):
        return core.transactions.explained(question, call.request.transactional_id, identity)
    guard_id = None
    if isinstance(question, AskCoordinator):
        apply_verification(log.state, question)
        ask = _add if is_implicit_add else _verify
        if (refusal := ask(core, call, log, identity)) is not None:
            return refusal
        guard_id = question.guard.guard_id
    core.state.transactions.carried_on(call.request.transactional_id, call.peer.connection_id)
    return guard_id


def _add(core: "BrokerCore", call: Call, log: PartitionLog, identity: ProducerIdentity) -> Refusal | None:
    decision = decide_add_partitions(
        core.state.transactions,
        transactional_id=call.request.transactional_id,
        presented=identity,
        partitions=(log.topic_partition,),
        client_transaction_version=EPOCH_PER_TRANSACTION,
        caller=core.transactions.caller(call),
        now_ms=call.now.wall_ms,
    )
    if isinstance(decision, Refusal):
        return decision
    reply = core.transactions.answer(decision, now_ms=call.now.wall_ms)
    return reply if isinstance(reply, Refusal) else None


def _verify(core: "BrokerCore", call: Call, log: PartitionLog, identity: ProducerIdentity) -> Refusal | None:
    answers = verify_partitions(
        core.state.transactions,
        transactional_id=call.request.transactional_id,
        presented=identity,
        partitions=(log.topic_partition,),
    )
    return answers if isinstance(answers, Refusal) else answers[log.topic_partition]
