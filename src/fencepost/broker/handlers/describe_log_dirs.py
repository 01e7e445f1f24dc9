"""DescribeLogDirs (35), versions 1 to 5: the data folder, and how much of the journal each partition takes up.

v3 an error for the whole answer; v4 sizes of the volume; v5 cordoned folders (there are none).
Differences from Kafka: partitions share the segments of one journal, so a size is the sum of the partition's batches,
those that cleaning has yet to remove included; the size of the volume is not told (-1).
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.types import TopicPartition
from fencepost.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


def handle(core: BrokerCore, call: Call) -> Outcome:
    request: DescribeLogDirsRequest = call.request
    if request.topics is None:
        wanted = list(core.state.logs)
    else:
        named = (TopicPartition(topic.topic, index) for topic in request.topics for index in topic.partitions)
        wanted = [each for each in dict.fromkeys(named) if each in core.state.logs]
    return core.reply(
        DescribeLogDirsResponse(results=[DescribeLogDirsResult(log_dir=core.log_dir, topics=_sizes(core, wanted))])
    )


def _sizes(core: BrokerCore, partitions: list[TopicPartition]) -> list[DescribeLogDirsTopic]:
    topics: dict[str, DescribeLogDirsTopic] = {}
    for topic_partition in partitions:
        size_bytes = core.journal.size_bytes(core.state.logs[topic_partition].partition_ref)
        topic = topics.setdefault(topic_partition.topic, DescribeLogDirsTopic(topic_partition.topic))
        topic.partitions.append(DescribeLogDirsPartition(topic_partition.partition, size_bytes))
    return list(topics.values())
