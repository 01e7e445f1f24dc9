"""EndTxn (26), versions 0 to 5: commit or abort. From v5 the answer carries the identity of the next transaction
(KIP-890).

PREPARE, the markers and COMPLETE are one commit group; the answer leaves when all of it is synced.
"""

from fencepost.broker.call import Call, CloseConnection, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import Refusal
from fencepost.transactions import decision as decisions
from fencepost.transactions.decide_end_txn import EndTxn, decide_end_txn
from fencepost.transactions.error_translation import coordinator_error
from fencepost.transactions.transaction import ProducerIdentity
from fencepost.wire.messages.end_txn import EndTxnRequest, EndTxnResponse


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: EndTxnRequest = call.request
    decision = decide_end_txn(
        core.state.transactions,
        EndTxn(
            transactional_id=request.transactional_id,
            presented=ProducerIdentity(request.producer_id, request.producer_epoch),
            is_commit=request.committed,
            api_version=call.api_version,
        ),
        settings=core.transactions.settings,
        caller=core.transactions.caller(call),
        now_ms=call.now.wall_ms,
    )
    if isinstance(decision, decisions.CloseConnection):
        return CloseConnection(decision.reason)
    reply = decision if isinstance(decision, Refusal) else core.transactions.answer(decision, now_ms=call.now.wall_ms)
    if isinstance(reply, Refusal):
        core.log_refusal(call, request.transactional_id, reply)
        return core.reply(EndTxnResponse(error_code=coordinator_error("EndTxn", call.api_version, reply.error_code)))
    return core.reply(EndTxnResponse(producer_id=reply.producer_id, producer_epoch=reply.producer_epoch))
