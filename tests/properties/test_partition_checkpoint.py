"""A restart changes nothing: a checkpoint anywhere in any history, then the rest, is the fold of the whole history."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.partition.apply import apply_aborted_data_cleaned, apply_batch, apply_log_start, apply_synced
from fencepost.partition.checkpoint import dump_state, load_state
from fencepost.partition.partition import PartitionState
from fencepost.partition.visibility import last_stable_offset
from fencepost.records.control import ControlMarker
from tests.unit.partition.driver import data_header

Event = Callable[[PartitionState], None]

INT16 = st.integers(-(2**15), 2**15 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
producer_ids = st.sampled_from([-1, 0, 1, 2, 2**63 - 1])
epochs = st.one_of(st.integers(0, 3), INT16)
gaps = st.one_of(st.just(0), st.integers(0, 2**40))


@st.composite
def data_batches(draw: st.DrawFn) -> Event:
    """Any batch at all: a fold takes the journal at its word."""
    header = data_header(
        producer_id=draw(producer_ids),
        producer_epoch=draw(epochs),
        base_sequence=draw(st.one_of(st.just(-1), st.integers(0, 2**31 - 1))),
        record_count=draw(st.one_of(st.integers(1, 3), st.integers(1, 2**31 - 1))),
        is_transactional=draw(st.booleans()),
        leader_epoch=draw(st.integers(-1, 4)),
        timestamp_ms=draw(INT64),
    )
    gap = draw(gaps)
    return lambda state: apply_batch(state, header._replace(base_offset=state.end_offset + gap))


@st.composite
def markers(draw: st.DrawFn) -> Event:
    header = data_header(
        producer_id=draw(producer_ids), producer_epoch=draw(epochs), is_transactional=True, is_control=True
    )
    marker = ControlMarker(header.producer_id, header.producer_epoch, draw(st.booleans()), draw(INT32), draw(INT64))
    is_emptied = draw(st.integers(0, 9)) == 0
    gap = draw(gaps)
    return lambda state: apply_batch(
        state, header._replace(base_offset=state.end_offset + gap), None if is_emptied else marker
    )


def synced(part: float) -> Event:
    return lambda state: apply_synced(
        state, state.high_watermark + round((state.end_offset - state.high_watermark) * part)
    )


def deleted(part: float) -> Event:
    return lambda state: apply_log_start(
        state,
        min(state.end_offset, round(state.log_start_offset + part * (state.high_watermark - state.log_start_offset))),
    )


def expired(now_ms: int) -> Event:
    """Who is forgotten depends on memory that a checkpoint does not hold; that somebody is may come at any time."""

    def forget(state: PartitionState) -> None:
        silent = [id_ for id_, each in state.producers.items() if each.last_timestamp <= now_ms]
        for id_ in silent:
            if not state.producers[id_].has_open_transaction:
                del state.producers[id_]

    return forget


def cleaned(row: int) -> Event:
    return lambda state: apply_aborted_data_cleaned(state, list(state.aborted.marker_offsets[row : row + 1]))


parts = st.floats(0, 1)
events = st.one_of(
    data_batches(),
    data_batches(),
    markers(),
    markers(),
    parts.map(synced),
    parts.map(deleted),
    INT64.map(expired),
    st.integers(0, 3).map(cleaned),
)


@settings(max_examples=300, deadline=None)
@given(history=st.lists(events, max_size=30), data=st.data())
def test_a_checkpoint_anywhere_and_the_rest_is_the_fold_of_everything(
    history: list[Event], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(history)))
    uninterrupted, restarted = PartitionState(), PartitionState()
    for position, event in enumerate(history):
        if position == cut:
            restarted = load_state(dump_state(restarted))
        event(uninterrupted)
        event(restarted)
    assert restarted == uninterrupted
    assert dump_state(restarted) == dump_state(uninterrupted)


@settings(max_examples=300, deadline=None)
@given(history=st.lists(events, max_size=30))
def test_offsets_keep_their_order_and_never_go_back(history: list[Event]) -> None:
    state = PartitionState()
    before = (0, 0, 0, 0)
    for event in history:
        event(state)
        offsets = (state.log_start_offset, last_stable_offset(state), state.high_watermark, state.end_offset)
        assert offsets == tuple(sorted(offsets))
        assert all(now >= then for now, then in zip(offsets, before, strict=True))
        before = offsets


@settings(max_examples=300, deadline=None)
@given(history=st.lists(events, max_size=30))
def test_the_ongoing_transactions_are_those_of_the_producers_in_order(history: list[Event]) -> None:
    state = PartitionState()
    for event in history:
        event(state)
    assert list(state.transactions.ongoing.items()) == sorted(
        (producer.current_txn_first_offset, producer_id)
        for producer_id, producer in state.producers.items()
        if producer.has_open_transaction
    )
