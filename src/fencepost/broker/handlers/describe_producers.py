"""DescribeProducers (61), version 0: what partitions remember of each producer id, open transactions included.

This is how `kafka-transactions` finds a hanging transaction, which WriteTxnMarkers can then abort.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import check_name
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: DescribeProducersRequest = call.request
    topics = [
        TopicResponse(topic.name, [_describe(core, topic.name, index) for index in topic.partition_indexes])
        for topic in request.topics
    ]
    return core.reply(DescribeProducersResponse(topics=topics))


def _describe(core: BrokerCore, topic: str, index: int) -> PartitionResponse:
    log = core.log(topic, index)
    if log is None:
        if (illegal := check_name(topic)) is not None:
            return PartitionResponse(index, illegal.error_code, illegal.message)
        message = "This server does not host this topic-partition."
        return PartitionResponse(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    producers = [
        ProducerState(
            producer_id=producer_id,
            producer_epoch=producer.producer_epoch,
            last_sequence=producer.last_sequence,
            last_timestamp=producer.last_timestamp,
            coordinator_epoch=producer.coordinator_epoch,
            current_txn_start_offset=producer.current_txn_first_offset,
        )
        for producer_id, producer in log.state.producers.items()
    ]
    return PartitionResponse(index, active_producers=producers)
