"""SyncGroup (14), versions 0 to 5: the leader hands in the assignment, every member gets its part."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.groups.classic_sync import decide_sync
from fencepost.groups.requests import SyncGroup, SyncGroupAssignment
from fencepost.wire.messages.sync_group import SyncGroupRequest


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: SyncGroupRequest = call.request
    sync = SyncGroup(
        group_id=request.group_id,
        generation_id=request.generation_id,
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignments=tuple(SyncGroupAssignment(part.member_id, bytes(part.assignment)) for part in request.assignments),
        api_version=call.api_version,
    )
    return core.groups.answer(call, decide_sync(core.state.groups, sync, token=call, now=call.now))
