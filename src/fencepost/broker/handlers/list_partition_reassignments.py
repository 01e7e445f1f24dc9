"""ListPartitionReassignments (46), version 0: partitions have nowhere to move to, so none is moving."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.wire.messages.list_partition_reassignments import ListPartitionReassignmentsResponse


def handle(core: BrokerCore, _call: Call) -> Outcome:
    return core.reply(ListPartitionReassignmentsResponse(error_message=None))
