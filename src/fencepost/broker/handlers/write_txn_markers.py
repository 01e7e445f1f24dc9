"""WriteTxnMarkers (27), versions 1 and 2: end a producer's transaction on partitions, as one broker tells another.

Here it is the administrator's tool against a hanging transaction: `kafka-transactions abort` sends the epochs that
DescribeProducers showed. v2 the marker's transaction version (KIP-1228). On `__consumer_offsets` the group
coordinator settles the pending offsets. The transaction coordinator is not asked, as in Kafka.
Differences from Kafka: `__transaction_state` takes no markers; it never holds transactional data.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.catalogue import TRANSACTION_TOPIC
from fencepost.broker.core import BrokerCore
from fencepost.broker.log_writer import PendingAppend
from fencepost.errors import ErrorCode, Refusal
from fencepost.journal.disk import DiskFull
from fencepost.partition.markers import decide_marker
from fencepost.records.control import ControlMarker, build_marker
from fencepost.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: WriteTxnMarkersRequest = call.request
    markers = [
        WritableTxnMarkerResult(
            marker.producer_id,
            [
                WritableTxnMarkerTopicResult(
                    topic.name,
                    [
                        WritableTxnMarkerPartitionResult(index, _write(core, call, marker, topic.name, index))
                        for index in topic.partition_indexes
                    ],
                )
                for topic in marker.topics
            ],
        )
        for marker in request.markers
    ]
    return core.reply(WriteTxnMarkersResponse(markers=markers))


def _write(core: BrokerCore, call: Call, marker: WritableTxnMarker, topic: str, index: int) -> ErrorCode:
    log = core.log(topic, index)
    if log is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if topic == TRANSACTION_TOPIC:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    if marker.producer_id < 0 or marker.producer_epoch < 0:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    decision = decide_marker(
        log.state,
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        coordinator_epoch=marker.coordinator_epoch,
        transaction_version=marker.transaction_version,
    )
    if isinstance(decision, Refusal):
        core.log_refusal(call, None, decision)
        return decision.error_code
    control = ControlMarker(
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        is_commit=marker.transaction_result,
        coordinator_epoch=marker.coordinator_epoch,
        timestamp_ms=call.now.wall_ms,
    )
    try:
        core.writer.append(PendingAppend(log, build_marker(**control._asdict()), control))
    except DiskFull:
        return ErrorCode.KAFKA_STORAGE_ERROR
    return ErrorCode.NONE
