"""Heartbeat (12), versions 0 to 4: a member is alive, and learns whether a rebalance has begun.

The answer shows nothing that is stored, so it does not wait for the disk: a slow disk must not cost a member its
session.
"""

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.broker.core import BrokerCore
from fencepost.groups.classic_heartbeat import decide_heartbeat
from fencepost.groups.requests import Heartbeat
from fencepost.wire.messages.heartbeat import HeartbeatRequest


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: HeartbeatRequest = call.request
    heartbeat = Heartbeat(
        group_id=request.group_id,
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
    )
    outcome = core.groups.answer(call, decide_heartbeat(core.state.groups, heartbeat, token=call, now=call.now))
    return Reply(outcome.message) if isinstance(outcome, Reply) else outcome
