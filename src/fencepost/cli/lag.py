"""How much a group still has to read: records that a `read_committed` reader would get, counted within a time limit.

Offsets overstate it (markers and aborted records have offsets too): a group that has read everything shows a lag of 1
for ever in tools that subtract. Where counting would take too long, the difference of the offsets is given as what it
is: an upper bound.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.cli.connection import Connection
from fencepost.client.admin import Admin
from fencepost.client.exceptions import Timeout
from fencepost.client.offsets_lag import count_records
from fencepost.client.time_limits import Deadline
from fencepost.types import OffsetRange, TopicPartition


@dataclass(frozen=True, slots=True)
class PartitionLag:
    topic_partition: TopicPartition
    committed_offset: int | None
    start_offset: int
    last_stable_offset: int
    end_offset: int
    records: int | None
    """None where nothing is committed: where a member begins is its own setting."""
    is_counted: bool
    """False: `records` is an upper bound."""

    @property
    def records_text(self) -> str | None:
        if self.records is None:
            return None
        return str(self.records) if self.is_counted else f"<={self.records}"

    @property
    def held_back(self) -> int:
        """Offsets at the end that open transactions keep from readers."""
        return self.end_offset - self.last_stable_offset


def measure_lag(
    admin: Admin, connection: Connection, committed: Mapping[TopicPartition, int | None], *, deadline: Deadline
) -> list[PartitionLag]:
    """In the order of the partitions; one whose topic is gone is left out."""
    there = admin.describe_topics()
    partitions = [where for where in sorted(committed) if where.topic in there]
    starts = admin.earliest_offsets(partitions)
    stable = admin.latest_offsets(partitions, read_committed=True)
    ends = admin.latest_offsets(partitions)
    settings = connection.consumer_settings(isolation_level="read_committed")
    lags = []
    for where in partitions:
        at = committed[where]
        records, is_counted = None, False
        if at is not None:
            unread = OffsetRange(max(at, starts[where]), stable[where])
            try:
                records, is_counted = count_records(admin.cluster, settings, where, unread, deadline), True
            except Timeout:
                records = len(unread)
        lags.append(PartitionLag(where, at, starts[where], stable[where], ends[where], records, is_counted))
    return lags
