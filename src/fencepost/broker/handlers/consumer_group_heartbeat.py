"""ConsumerGroupHeartbeat (68), versions 0 and 1: a member of a KIP-848 group joins, stays or leaves, and is told its
partitions. v1 subscriptions by regular expression, and the client makes its member id. See
`groups/consumer_heartbeat.py`."""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.groups.consumer_heartbeat import decide_consumer_heartbeat
from fencepost.groups.requests import ConsumerGroupHeartbeat, OwnedPartitions
from fencepost.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: ConsumerGroupHeartbeatRequest = call.request
    names, owned = request.subscribed_topic_names, request.topic_partitions
    heartbeat = ConsumerGroupHeartbeat(
        group_id=request.group_id,
        member_id=request.member_id,
        member_epoch=request.member_epoch,
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        subscribed_topic_names=None if names is None else tuple(names),
        subscribed_topic_regex=request.subscribed_topic_regex,
        server_assignor=request.server_assignor,
        topic_partitions=None
        if owned is None
        else tuple(OwnedPartitions(topic.topic_id, tuple(topic.partitions)) for topic in owned),
        client_id=call.client_id,
        client_host=call.peer.host,
        api_version=call.api_version,
    )
    decision = decide_consumer_heartbeat(
        core.state.groups, heartbeat, topics=core.groups.topic_image(), token=call, now=call.now
    )
    return core.groups.answer(call, decision)
