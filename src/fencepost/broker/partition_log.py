"""One partition as the broker holds it: its address in the journal, its state, and who waits for it to grow."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fencepost.partition.partition import PartitionState
from fencepost.records.control import ControlMarker
from fencepost.records.header import BatchHeader
from fencepost.types import Buffer, TopicPartition

if TYPE_CHECKING:
    from fencepost.broker.parked_fetches import ParkedFetch

Follower = Callable[[BatchHeader, Buffer, ControlMarker | None], None]
"""Folds what is inside the batches of an internal topic into the coordinator that lives on it."""


@dataclass(slots=True, eq=False)
class PartitionLog:
    partition_ref: int
    topic_partition: TopicPartition
    state: PartitionState = field(default_factory=PartitionState)
    follower: Follower | None = None
    parked: "dict[ParkedFetch, None]" = field(default_factory=dict)
