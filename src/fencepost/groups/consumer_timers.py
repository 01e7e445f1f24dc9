"""The volatile side of a KIP-848 group: its members' deadlines (monotonic), and the topics it last saw."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerTimers:
    group_id: str
    session_deadlines_ms: Mapping[str, int] = field(default_factory=dict)
    # Members that were asked to revoke partitions and must have done so by then.
    rebalance_deadlines_ms: Mapping[str, int] = field(default_factory=dict)
    # The version of the topic catalogue that the subscriptions were last resolved against.
    topics_version: int = -1

    @property
    def next_deadline_ms(self) -> int | None:
        deadlines = (*self.session_deadlines_ms.values(), *self.rebalance_deadlines_ms.values())
        return min(deadlines, default=None)

    def with_session(self, member_id: str, deadline_ms: int) -> "ConsumerTimers":
        return replace(self, session_deadlines_ms={**self.session_deadlines_ms, member_id: deadline_ms})

    def with_rebalance(self, member_id: str, deadline_ms: int | None) -> "ConsumerTimers":
        deadlines = {id_: at for id_, at in self.rebalance_deadlines_ms.items() if id_ != member_id}
        if deadline_ms is not None:
            deadlines[member_id] = deadline_ms
        return replace(self, rebalance_deadlines_ms=deadlines)

    def without(self, member_id: str) -> "ConsumerTimers":
        sessions = {id_: at for id_, at in self.session_deadlines_ms.items() if id_ != member_id}
        return replace(self.with_rebalance(member_id, None), session_deadlines_ms=sessions)
