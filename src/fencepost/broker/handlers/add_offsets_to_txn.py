"""AddOffsetsToTxn (25), versions 0 to 4: the group's partition of `__consumer_offsets` joins the transaction."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode, Refusal
from fencepost.transactions.decide_add_partitions import decide_add_partitions
from fencepost.transactions.error_translation import coordinator_error
from fencepost.transactions.transaction import ProducerIdentity
from fencepost.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse

CLASSIC_FLOW = 0


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: AddOffsetsToTxnRequest = call.request
    decision = decide_add_partitions(
        core.state.transactions,
        transactional_id=request.transactional_id,
        presented=ProducerIdentity(request.producer_id, request.producer_epoch),
        partitions=(core.groups.topic_partition_of(request.group_id),),
        client_transaction_version=CLASSIC_FLOW,
        caller=core.transactions.caller(call),
        now_ms=call.now.wall_ms,
    )
    reply = decision if isinstance(decision, Refusal) else core.transactions.answer(decision, now_ms=call.now.wall_ms)
    error_code = ErrorCode.NONE
    if isinstance(reply, Refusal):
        core.log_refusal(call, request.transactional_id, reply)
        error_code = coordinator_error("AddOffsetsToTxn", call.api_version, reply.error_code)
    core.state.transactions.carried_on(request.transactional_id, call.peer.connection_id)
    return core.reply(AddOffsetsToTxnResponse(error_code=error_code))
