"""How far behind a pipeline is, in records: up to where others may read, minus how far its committed transactions
have come.

Taken from the group's offsets, which are committed in the same transactions as the output; on another cluster than
the source's there are none, and Spark's progress tells. Markers take offsets too, so a lag of zero means zero, and a
larger one may include them.
"""

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fencepost.client.exceptions import ClientError
from fencepost.spark.offsets import source_offsets
from fencepost.types import TopicPartition

if TYPE_CHECKING:
    from fencepost.client.admin import Admin


def lag_of(ends: Mapping[TopicPartition, int], positions: Mapping[TopicPartition, int]) -> int:
    return sum(max(0, end - positions[where]) for where, end in ends.items())


def positions_in(progress: Any) -> dict[TopicPartition, int]:
    """The end offsets of Spark's last progress report, of all sources that are topics."""
    found: dict[TopicPartition, int] = {}
    for source in (progress or {}).get("sources", []):
        text = source.get("endOffset")
        offsets = source_offsets(text) if isinstance(text, str) else None
        if offsets is not None:
            found.update(offsets.positions)
    return found


class LagWatch:
    """Asks a cluster for ends and positions. Not for several threads at once."""

    def __init__(self, admin: "Admin", *, read_committed: bool = True) -> None:
        self._admin = admin
        self._read_committed = read_committed
        self._lock = threading.Lock()

    def lag(self, topics: tuple[str, ...], *, group_id: str, progress: Any = None) -> int | None:
        """None while the cluster does not answer."""
        with self._lock:
            try:
                partitions = [
                    TopicPartition(topic, partition)
                    for topic, metadata in self._admin.describe_topics(topics).items()
                    for partition in metadata.partitions
                ]
                ends = self._admin.latest_offsets(partitions, read_committed=self._read_committed)
                committed = self._admin.group_offsets(group_id)
                begun = {where: committed[where].offset for where in partitions if where in committed}
                begun = begun or positions_in(progress)
                beginnings = self._admin.earliest_offsets([where for where in partitions if where not in begun])
            except ClientError:
                return None
        return lag_of(ends, {**beginnings, **begun})
