"""Everything that the group coordinator knows.

`offsets`, `metadata` and `consumer` are folds over the records of `__consumer_offsets`: they are what a checkpoint
holds. `classic`, `consumer_timers` and `wake_times` are memory: parked requests, deadlines, members of an
unfinished rebalance. A group that only has offsets (a "simple" group) has no entry of its own: it lives as long as
its offsets.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fencepost.groups.classic_group import ClassicGroup
from fencepost.groups.consumer_group import ConsumerGroup, ConsumerTimers
from fencepost.groups.offsets import OffsetStore
from fencepost.settings import BrokerSettings
from fencepost.wire.messages.group_metadata_record import GroupMetadataValue


class WakeTimes:
    """When each group next wants to be looked at, in monotonic milliseconds.

    `earliest_ms` may be too early, never too late: heartbeats move deadlines all the time, and only a look that finds
    nothing due pays for finding the exact one again.
    """

    def __init__(self) -> None:
        self._by_group: dict[str, int] = {}
        self.earliest_ms: int | None = None

    def set(self, group_id: str, wake_at_ms: int | None) -> None:
        if wake_at_ms is None:
            self._by_group.pop(group_id, None)
            return
        self._by_group[group_id] = wake_at_ms
        if self.earliest_ms is None or wake_at_ms < self.earliest_ms:
            self.earliest_ms = wake_at_ms

    def due(self, now_ms: int) -> list[str]:
        """Groups whose time has come. They stay due until their time is set anew."""
        if self.earliest_ms is None or now_ms < self.earliest_ms:
            return []
        due = [group_id for group_id, wake_at_ms in self._by_group.items() if wake_at_ms <= now_ms]
        if not due:
            self.earliest_ms = min(self._by_group.values(), default=None)
        return due


@dataclass(slots=True)
class GroupsState:
    settings: BrokerSettings
    # Makes a member id that starts with the given text (a client id or an instance id) and was never given before.
    new_member_id: Callable[[str], str]
    offsets: OffsetStore = field(default_factory=OffsetStore)
    metadata: dict[str, GroupMetadataValue] = field(default_factory=dict)
    consumer: dict[str, ConsumerGroup] = field(default_factory=dict)
    classic: dict[str, ClassicGroup] = field(default_factory=dict)
    consumer_timers: dict[str, ConsumerTimers] = field(default_factory=dict)
    wake_times: WakeTimes = field(default_factory=WakeTimes)

    def find(self, group_id: str) -> ClassicGroup | ConsumerGroup | None:
        """The group as it is, whatever its kind; a simple group as an empty classic one."""
        group = self.consumer.get(group_id) or self.classic.get(group_id)
        if group is None and self.offsets.has_group(group_id):
            return ClassicGroup(group_id=group_id)
        return group

    def timers_of(self, group_id: str) -> ConsumerTimers:
        return self.consumer_timers.get(group_id) or ConsumerTimers(group_id=group_id)

    def group_ids(self) -> Iterator[str]:
        """Every group once."""
        yield from self.consumer
        yield from self.classic
        for group_id in self.offsets.group_ids():
            if group_id not in self.consumer and group_id not in self.classic:
                yield group_id

    @property
    def is_full(self) -> bool:
        """Whether a further group is one too many (`groups.max`). Groups with offsets may also have members."""
        return max(len(self.consumer) + len(self.classic), self.offsets.group_count) >= self.settings.groups_max

    @property
    def wake_at_ms(self) -> int | None:
        """The monotonic time at which `decide_timers` should be called next."""
        return self.wake_times.earliest_ms
