"""InitProducerId (22), versions 0 to 6: an identity for an idempotent or transactional producer.

v3 the owner may present its identity (KIP-360); v4 PRODUCER_FENCED; v6 two-phase
commit (KIP-939), refused unless `transaction.two.phase.commit.enable`. See `transactions/decide_init_producer_id.py`.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode, Refusal
from fencepost.transactions.decide_init_producer_id import InitProducerId, decide_init_producer_id
from fencepost.transactions.error_translation import coordinator_error
from fencepost.transactions.transaction import ProducerIdentity
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: InitProducerIdRequest = call.request
    decision = decide_init_producer_id(
        core.state.transactions,
        InitProducerId(
            transactional_id=request.transactional_id,
            transaction_timeout_ms=request.transaction_timeout_ms,
            presented=ProducerIdentity(request.producer_id, request.producer_epoch),
            enable_2pc=request.enable2_pc,
            keep_prepared_txn=request.keep_prepared_txn,
        ),
        settings=core.transactions.settings,
        caller=core.transactions.caller(call),
        now_ms=call.now.wall_ms,
    )
    reply = decision if isinstance(decision, Refusal) else core.transactions.answer(decision, now_ms=call.now.wall_ms)
    if request.transactional_id is not None:
        core.state.transactions.carried_on(request.transactional_id, call.peer.connection_id)
    if isinstance(reply, Refusal):
        core.log_refusal(call, request.transactional_id, reply)
        error_code = coordinator_error("InitProducerId", call.api_version, reply.error_code)
        if request.transactional_id is None and error_code is ErrorCode.NOT_COORDINATOR:
            # Without a transactional id there is no coordinator to look for; this one makes clients just ask again.
            error_code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return core.reply(InitProducerIdResponse(error_code=error_code, producer_epoch=-1))
    return core.reply(
        InitProducerIdResponse(
            producer_id=reply.producer_id,
            producer_epoch=reply.producer_epoch,
            ongoing_txn_producer_id=reply.ongoing_txn_producer_id,
            ongoing_txn_producer_epoch=reply.ongoing_txn_producer_epoch,
        )
    )
