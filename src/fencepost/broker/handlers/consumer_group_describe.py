"""ConsumerGroupDescribe (69), versions 0 and 1: KIP-848 groups with their members and assignments. v1 member types.

Classic groups are DescribeGroups' to show: here they are not found.
"""

from fencepost.broker.authorized_operations import GROUP_OPERATIONS, NOT_ASKED
from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.groups import replies
from fencepost.groups.listing import describe_consumer_group
from fencepost.wire.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: ConsumerGroupDescribeRequest = call.request
    operations = GROUP_OPERATIONS if request.include_authorized_operations else NOT_ASKED
    groups = [_describe(core, group_id, operations) for group_id in request.group_ids]
    return core.reply(ConsumerGroupDescribeResponse(groups=groups))


def _describe(core: BrokerCore, group_id: str, operations: int) -> DescribedGroup:
    if not group_id:
        return DescribedGroup(error_code=ErrorCode.INVALID_GROUP_ID)
    return _to_wire(describe_consumer_group(core.state.groups, group_id), operations)


def _to_wire(group: replies.ConsumerGroupDescribedGroup, operations: int) -> DescribedGroup:
    return DescribedGroup(
        error_code=group.error_code,
        error_message=group.error_message,
        group_id=group.group_id,
        group_state=group.group_state,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.assignor_name,
        members=[_member(member) for member in group.members],
        authorized_operations=NOT_ASKED if group.error_code else operations,
    )


def _member(member: replies.ConsumerGroupDescribedMember) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        assignment=_assignment(member.assignment),
        target_assignment=_assignment(member.target_assignment),
        member_type=member.member_type,
    )


def _assignment(assignment: replies.Assignment) -> Assignment:
    return Assignment(
        [
            TopicPartitions(topic.topic_id, topic.topic_name, list(topic.partitions))
            for topic in assignment.topic_partitions
        ]
    )
