"""FindCoordinator (10), versions 0 to 6: every group and every transactional id lives here.

v1 key types; v4 several keys. Share groups (key type 2) are not served.
"""

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.wire.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse

GROUP = 0
TRANSACTION = 1
KEYS_SINCE_VERSION = 4
NO_NODE = -1


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: FindCoordinatorRequest = call.request
    if call.api_version >= KEYS_SINCE_VERSION:
        found = [_find(core, key, request.key_type) for key in request.coordinator_keys]
        return Reply(FindCoordinatorResponse(coordinators=found))
    one = _find(core, request.key, request.key_type)
    return Reply(
        FindCoordinatorResponse(
            error_code=one.error_code,
            error_message=one.error_message,
            node_id=one.node_id,
            host=one.host,
            port=one.port,
        )
    )


def _find(core: BrokerCore, key: str, key_type: int) -> Coordinator:
    if key_type not in (GROUP, TRANSACTION):
        message = f"key type {key_type}: expected {GROUP} (group) or {TRANSACTION} (transaction)"
        return Coordinator(key, NO_NODE, error_code=ErrorCode.INVALID_REQUEST, error_message=message, port=-1)
    host, port = core.listener
    return Coordinator(key, core.settings.node_id, host, port, error_message=None)
