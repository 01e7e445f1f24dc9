"""DescribeClientQuotas (48), versions 0 and 1: nobody is throttled, so no filter finds anything.

Filters are still read, so that a mistake in one is told.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode, Refusal
from fencepost.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)

ENTITY_TYPES = ("user", "client-id", "ip")
MATCH_EXACT, MATCH_DEFAULT, MATCH_ANY = range(3)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: DescribeClientQuotasRequest = call.request
    for component in request.components:
        if (refusal := _refuse(component)) is not None:
            return core.reply(
                DescribeClientQuotasResponse(error_code=refusal.error_code, error_message=refusal.message, entries=None)
            )
    return core.reply(DescribeClientQuotasResponse())


def _refuse(component: ComponentData) -> Refusal | None:
    if component.match_type not in (MATCH_EXACT, MATCH_DEFAULT, MATCH_ANY):
        return Refusal(ErrorCode.INVALID_REQUEST, f"Unknown match type {component.match_type}")
    if component.entity_type not in ENTITY_TYPES:
        return Refusal(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {component.entity_type}")
    return None
