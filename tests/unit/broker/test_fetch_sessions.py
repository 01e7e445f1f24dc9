from fencepost.broker.fetch_sessions import (
    EVICTABLE_AFTER_MS,
    FINAL_EPOCH,
    INITIAL_EPOCH,
    FetchContext,
    FetchSessions,
    FetchTarget,
    TargetKey,
)
from fencepost.errors import ErrorCode, Refusal

A0, A1, B0 = TargetKey("a", 0), TargetKey("a", 1), TargetKey("b", 0)


def target(key: TargetKey, fetch_offset: int = 0) -> FetchTarget:
    return FetchTarget(key, fetch_offset=fetch_offset, partition_bytes_max=1000)


def resolve(sessions, session_id, epoch, targets=(), forgotten=(), now_ms=0):
    return sessions.resolve(
        session_id=session_id, session_epoch=epoch, targets=targets, forgotten=forgotten, now_ms=now_ms
    )


def test_a_full_fetch_without_a_session_keeps_nothing() -> None:
    sessions = FetchSessions(slots=10)
    context = resolve(sessions, 0, FINAL_EPOCH, [target(A0)])
    assert isinstance(context, FetchContext)
    assert (context.session_id, context.is_incremental, len(sessions)) == (0, False, 0)


def test_an_incremental_fetch_reads_what_the_session_remembers() -> None:
    sessions = FetchSessions(slots=10)
    opened = resolve(sessions, 0, INITIAL_EPOCH, [target(A0), target(A1)])
    assert opened.session_id > 0
    assert not opened.is_incremental
    context = resolve(sessions, opened.session_id, 1, [target(A1, 7), target(B0)], forgotten=[A0])
    assert context.is_incremental
    assert [(t.key, t.fetch_offset) for t in context.targets] == [(A1, 7), (B0, 0)]


def test_what_the_client_was_told_is_kept_when_it_moves_on() -> None:
    sessions = FetchSessions(slots=10)
    opened = resolve(sessions, 0, INITIAL_EPOCH, [target(A0)])
    opened.targets[0].last_answer = (5, 5, 0)
    context = resolve(sessions, opened.session_id, 1, [target(A0, 5)])
    assert context.targets[0].last_answer == (5, 5, 0)


def test_a_wrong_epoch_is_refused_and_changes_nothing() -> None:
    sessions = FetchSessions(slots=10)
    session_id = resolve(sessions, 0, INITIAL_EPOCH, [target(A0)]).session_id
    refusal = resolve(sessions, session_id, 2, [target(B0)])
    assert isinstance(refusal, Refusal)
    assert refusal.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert [t.key for t in resolve(sessions, session_id, 1).targets] == [A0]


def test_an_unknown_session_is_refused() -> None:
    refusal = resolve(FetchSessions(slots=10), 42, 1)
    assert isinstance(refusal, Refusal)
    assert refusal.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_the_final_epoch_closes_the_session() -> None:
    sessions = FetchSessions(slots=10)
    session_id = resolve(sessions, 0, INITIAL_EPOCH, [target(A0)]).session_id
    resolve(sessions, session_id, FINAL_EPOCH, [target(A0)])
    assert len(sessions) == 0


def test_without_a_free_slot_the_client_is_served_without_a_session_until_one_is_stale() -> None:
    sessions = FetchSessions(slots=1)
    first = resolve(sessions, 0, INITIAL_EPOCH, [target(A0)], now_ms=0)
    assert resolve(sessions, 0, INITIAL_EPOCH, [target(A1)], now_ms=EVICTABLE_AFTER_MS - 1).session_id == 0
    late = resolve(sessions, 0, INITIAL_EPOCH, [target(A1)], now_ms=EVICTABLE_AFTER_MS)
    assert late.session_id not in (0, first.session_id)
    assert isinstance(resolve(sessions, first.session_id, 1), Refusal)
