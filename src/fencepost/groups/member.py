"""One member of a classic group, as an immutable value.

The first half is persisted with the group when a generation becomes stable. The second half is memory only: parked
requests (as opaque tokens of the caller) and the deadline of the session, in monotonic milliseconds.
"""

from collections.abc import Set
from dataclasses import dataclass, field

from fencepost.groups.requests import JoinGroup, Protocol

Token = object


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: tuple[Protocol, ...]
    assignment: bytes = b""

    join_token: Token | None = field(default=None, repr=False)
    sync_token: Token | None = field(default=None, repr=False)
    # A member that waits for its first generation may expire while its join is parked: it cannot send heartbeats
    # yet, and a client that gave up would otherwise stay in the group forever.
    is_new: bool = False
    # None: not armed. Only between recovery and `resume_members`.
    session_deadline_ms: int | None = None

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def is_awaiting_join(self) -> bool:
        return self.join_token is not None

    @property
    def is_awaiting_sync(self) -> bool:
        return self.sync_token is not None

    @property
    def expires_at_ms(self) -> int | None:
        """When the session ends, unless something is heard of the member. A parked request keeps it alive."""
        if not self.is_new and (self.is_awaiting_join or self.is_awaiting_sync):
            return None
        return self.session_deadline_ms

    def metadata(self, protocol_name: str | None) -> bytes:
        return next((metadata for name, metadata in self.protocols if name == protocol_name), b"")

    def vote(self, candidates: Set[str]) -> str:
        """The first of its protocols that everybody supports."""
        return next(name for name, _ in self.protocols if name in candidates)


def rebalance_timeout_ms(request: JoinGroup) -> int:
    """Version 0 has no rebalance timeout: the session timeout stands in for it."""
    return request.rebalance_timeout_ms if request.rebalance_timeout_ms >= 0 else request.session_timeout_ms
