"""A partition as its log has it: every record batch with its header, aborted ones and control markers included.

For tools that show or judge what happened. Who wants records reads with a `Consumer`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from fencepost.client.arrow_range import RangeReader
from fencepost.client.cluster import Cluster
from fencepost.client.consumer_settings import ConsumerSettings
from fencepost.client.offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, list_offsets
from fencepost.client.range_fetch import PartitionRange
from fencepost.client.settings import client_settings
from fencepost.client.time_limits import Deadline
from fencepost.records.control import ControlMarker, read_marker
from fencepost.records.header import BatchHeader, read_header
from fencepost.types import OffsetRange, TopicPartition


class LoggedBatch(NamedTuple):
    header: BatchHeader
    data: memoryview
    marker: ControlMarker | None
    """What a control batch says; None for data."""


def read_log(
    bootstrap_servers: str,
    topic_partition: TopicPartition,
    *,
    start_offset: int | None = None,
    end_offset: int | None = None,
    **settings: Any,
) -> Iterator[LoggedBatch]:
    """From the beginning, or `start_offset`, to the high watermark of the moment, or `end_offset` (not included)."""
    settings = {**settings, "isolation_level": "read_uncommitted"}
    chosen = client_settings(ConsumerSettings, settings, kind="reader of a log")
    deadline = Deadline(chosen.default_api_timeout_ms / 1000)
    cluster = Cluster(bootstrap_servers, chosen)
    reader = RangeReader(cluster, chosen)
    try:
        start, end = (
            _offset(cluster, topic_partition, timestamp, deadline) if given is None else given
            for given, timestamp in ((start_offset, EARLIEST_TIMESTAMP), (end_offset, LATEST_TIMESTAMP))
        )
        topic_id = cluster.topic(topic_partition.topic, deadline).topic_id
        for data in reader.batches(PartitionRange(topic_partition, topic_id, OffsetRange(start, end))):
            header = read_header(data)
            yield LoggedBatch(header, data, read_marker(data) if header.is_control else None)
    finally:
        reader.close()


def _offset(cluster: Cluster, where: TopicPartition, timestamp_ms: int, deadline: Deadline) -> int:
    return list_offsets(cluster, {where: timestamp_ms}, deadline, is_read_committed=False)[where].offset
