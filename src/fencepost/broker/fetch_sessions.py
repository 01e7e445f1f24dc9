"""Incremental fetch sessions (KIP-227): a client names its partitions once, then only what changes.

A session remembers, per partition, what the client asked for and what it was answered last. `FetchSessions.resolve`
turns a request into a `FetchContext`: the targets to read, and whether unchanged ones may be left out of the answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from fencepost.errors import ErrorCode, Refusal

NO_SESSION = 0
FINAL_EPOCH = -1
INITIAL_EPOCH = 0
EPOCH_MAX = 2**31 - 1
EVICTABLE_AFTER_MS = 120_000
TARGETS_PER_SESSION_MAX = 100_000


class TargetKey(NamedTuple):
    """Before Fetch v13 a topic is a name, from v13 on it is an id."""

    topic: str | UUID
    partition: int


@dataclass(slots=True)
class FetchTarget:
    key: TargetKey
    fetch_offset: int
    partition_bytes_max: int
    current_leader_epoch: int = -1
    last_answer: tuple[int, int, int] | None = None
    """High watermark, last stable offset and log start offset of the last answer."""


@dataclass(slots=True)
class FetchSession:
    session_id: int
    next_epoch: int
    last_used_ms: int
    targets: dict[TargetKey, FetchTarget] = field(default_factory=dict)


class FetchContext(NamedTuple):
    session_id: int
    targets: list[FetchTarget]
    is_incremental: bool


class FetchSessions:
    """All sessions of a broker, at most `slots` of them."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._sessions: dict[int, FetchSession] = {}
        self._last_id = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def resolve(
        self,
        *,
        session_id: int,
        session_epoch: int,
        targets: Iterable[FetchTarget],
        forgotten: Iterable[TargetKey],
        now_ms: int,
    ) -> FetchContext | Refusal:
        if session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(session_id, None)
            wanted = list(targets)
            is_kept = session_epoch == INITIAL_EPOCH and len(wanted) <= TARGETS_PER_SESSION_MAX
            new_id = self._open(wanted, now_ms) if is_kept else NO_SESSION
            return FetchContext(new_id, wanted, is_incremental=False)
        session = self._sessions.get(session_id)
        if session is None:
            return Refusal(ErrorCode.FETCH_SESSION_ID_NOT_FOUND, f"there is no fetch session {session_id}")
        if session_epoch != session.next_epoch:
            return Refusal(
                ErrorCode.INVALID_FETCH_SESSION_EPOCH,
                f"fetch session {session_id} expects epoch {session.next_epoch}, not {session_epoch}",
            )
        session.next_epoch = 1 if session_epoch == EPOCH_MAX else session_epoch + 1
        session.last_used_ms = now_ms
        for key in forgotten:
            session.targets.pop(key, None)
        for target in targets:
            known = session.targets.get(target.key)
            target.last_answer = known.last_answer if known is not None else None
            session.targets[target.key] = target
            if len(session.targets) > TARGETS_PER_SESSION_MAX:
                del self._sessions[session_id]
                return Refusal(
                    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
                    f"fetch session {session_id} has more than {TARGETS_PER_SESSION_MAX} partitions: it is closed",
                )
        return FetchContext(session_id, list(session.targets.values()), is_incremental=True)

    def _open(self, targets: list[FetchTarget], now_ms: int) -> int:
        """A new session's id, or `NO_SESSION` when all slots are taken by sessions in use."""
        if not targets or not self._make_room(now_ms):
            return NO_SESSION
        self._last_id = 1 if self._last_id >= EPOCH_MAX else self._last_id + 1
        by_key = {target.key: target for target in targets}
        self._sessions[self._last_id] = FetchSession(self._last_id, next_epoch=1, last_used_ms=now_ms, targets=by_key)
        return self._last_id

    def _make_room(self, now_ms: int) -> bool:
        if len(self._sessions) < self._slots:
            return True
        if not self._sessions:
            return False
        oldest = min(self._sessions.values(), key=lambda session: session.last_used_ms)
        if now_ms - oldest.last_used_ms < EVICTABLE_AFTER_MS:
            return False
        del self._sessions[oldest.session_id]
        return True
