"""When each group next wants to be looked at, in monotonic milliseconds.

`earliest_ms` may be too early, never too late: heartbeats move deadlines all the time, and only a look that finds
nothing due pays for finding the exact one again.
"""


class WakeTimes:
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
