"""Fetch sessions of the client: against rules, and against a broker's half that only hears what is sent."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from fencepost.client.consumer.fetch_session import EPOCH_MAX, FetchSession, FetchTarget, Targets
from fencepost.types import TopicPartition
from fencepost.wire.messages.fetch import FetchRequest
from fencepost.wire.reading import ZERO_UUID

A, B, C = (TopicPartition("t", index) for index in range(3))
T1, T2 = UUID(int=1), UUID(int=2)


def target(offset: int, topic_id: UUID = T1) -> FetchTarget:
    return FetchTarget(topic_id, offset, 0, 100)


def sent(request: FetchRequest) -> dict[tuple[str, UUID, int], int]:
    return {
        (topic.topic, topic.topic_id, row.partition): row.fetch_offset
        for topic in request.topics
        for row in topic.partitions
    }


def forgotten(request: FetchRequest) -> set[tuple[str, UUID, int]]:
    return {(t.topic, t.topic_id, index) for t in request.forgotten_topics_data for index in t.partitions}


def test_the_first_request_is_full_and_later_ones_say_what_changed() -> None:
    session = FetchSession()
    first = session.prepare({A: target(0), B: target(5)}, FetchRequest())
    assert (first.session_id, first.session_epoch) == (0, 0)
    assert sent(first) == {("t", T1, 0): 0, ("t", T1, 1): 5}
    session.answered(77)
    second = session.prepare({A: target(3), B: target(5)}, FetchRequest())
    assert (second.session_id, second.session_epoch) == (77, 1)
    assert sent(second) == {("t", T1, 0): 3}
    session.answered(77)
    third = session.prepare({B: target(5), C: target(0)}, FetchRequest())
    assert third.session_epoch == 2
    assert (sent(third), forgotten(third)) == ({("t", T1, 2): 0}, {("t", T1, 0)})


def test_a_broker_that_keeps_no_session_is_told_everything_every_time() -> None:
    session = FetchSession()
    for _ in range(3):
        request = session.prepare({A: target(0)}, FetchRequest())
        assert (request.session_id, request.session_epoch, sent(request)) == (0, 0, {("t", T1, 0): 0})
        session.answered(0)


def test_after_a_reset_the_next_request_is_full() -> None:
    session = FetchSession()
    session.prepare({A: target(0)}, FetchRequest())
    session.answered(77)
    session.reset()
    request = session.prepare({A: target(0)}, FetchRequest())
    assert (request.session_id, request.session_epoch, sent(request)) == (0, 0, {("t", T1, 0): 0})


def test_a_session_does_not_mix_names_and_ids() -> None:
    session = FetchSession()
    session.prepare({A: target(0)}, FetchRequest())
    session.answered(77)
    assert session.prepare({A: target(0, ZERO_UUID)}, FetchRequest()).session_epoch == 0


def test_the_epoch_wraps_to_one() -> None:
    session = FetchSession()
    session.prepare({A: target(0)}, FetchRequest())
    session.answered(77)
    session.epoch = EPOCH_MAX
    session.answered(77)
    assert session.epoch == 1


wanted = st.dictionaries(
    st.builds(TopicPartition, st.sampled_from(["t", "u"]), st.integers(0, 3)),
    st.builds(target, st.integers(0, 5), st.sampled_from([T1, T2])),
    max_size=8,
)


@given(st.lists(st.tuples(wanted, st.sampled_from(["kept", "lost", "none"])), max_size=12))
def test_the_broker_always_knows_what_is_wanted(turns: list[tuple[Targets, str]]) -> None:
    session = FetchSession()
    known: dict[tuple[str, UUID, int], int] = {}
    for targets, outcome in turns:
        request = session.prepare(targets, FetchRequest())
        if request.session_epoch == 0:
            known = {}
        for key in forgotten(request):
            known.pop(key, None)
        known.update(sent(request))
        assert known == {(w.topic, t.topic_id, w.partition): t.fetch_offset for w, t in targets.items()}
        if outcome == "lost":
            session.reset()
        else:
            session.answered(77 if outcome == "kept" else 0)
