"""ListTransactions (66), versions 0 to 2: transactional ids by state and producer id; v1 by duration (KIP-994), v2 by a
pattern that must match the whole id (KIP-1152)."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import Refusal
from fencepost.transactions.queries import list_transactions
from fencepost.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: ListTransactionsRequest = call.request
    listing = list_transactions(
        core.state.transactions,
        state_filters=request.state_filters,
        producer_id_filters=request.producer_id_filters,
        duration_filter_ms=request.duration_filter,
        transactional_id_pattern=request.transactional_id_pattern,
        now_ms=call.now.wall_ms,
    )
    if isinstance(listing, Refusal):
        return core.reply(ListTransactionsResponse(error_code=listing.error_code))
    states = [
        TransactionState(found.transactional_id, found.producer_id, found.state.kafka_name)
        for found in listing.transactions
    ]
    return core.reply(
        ListTransactionsResponse(unknown_state_filters=listing.unknown_state_filters, transaction_states=states)
    )
