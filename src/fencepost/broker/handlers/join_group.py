"""JoinGroup (11), versions 0 to 9: become a member, and wait for the others. See `groups/classic_join.py`."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.groups.classic_join import decide_join
from fencepost.groups.requests import JoinGroup, Protocol
from fencepost.wire.messages.join_group import JoinGroupRequest


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: JoinGroupRequest = call.request
    join = JoinGroup(
        group_id=request.group_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        protocol_type=request.protocol_type,
        protocols=tuple(Protocol(protocol.name, bytes(protocol.metadata)) for protocol in request.protocols),
        client_id=call.client_id,
        client_host=call.peer.host,
        api_version=call.api_version,
    )
    return core.groups.answer(call, decide_join(core.state.groups, join, token=call, now=call.now))
