"""LeaveGroup (13), versions 0 to 5: members go. Up to v2 one member, from v3 several, static ones by instance id."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.groups.classic_leave import decide_leave
from fencepost.groups.requests import LeaveGroup, MemberIdentity
from fencepost.wire.messages.leave_group import LeaveGroupRequest

SEVERAL_MEMBERS_SINCE_VERSION = 3


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: LeaveGroupRequest = call.request
    if call.api_version >= SEVERAL_MEMBERS_SINCE_VERSION:
        members = tuple(MemberIdentity(member.member_id, member.group_instance_id) for member in request.members)
    else:
        members = (MemberIdentity(request.member_id),)
    leave = LeaveGroup(group_id=request.group_id, members=members)
    return core.groups.answer(call, decide_leave(core.state.groups, leave, token=call, now=call.now))
