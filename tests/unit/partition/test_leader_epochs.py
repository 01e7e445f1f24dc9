from fencepost.partition.apply import apply_batch
from fencepost.partition.partition import LeaderEpochs, PartitionState
from tests.unit.partition.driver import data_header

UNKNOWN = (-1, -1)


def three_epochs() -> LeaderEpochs:
    epochs = LeaderEpochs()
    epochs.begin(2, start_offset=10)
    epochs.begin(5, start_offset=30)
    return epochs


def test_the_newest_epoch_ends_at_the_high_watermark() -> None:
    assert LeaderEpochs().end_of(0, high_watermark=7) == (0, 7)
    assert three_epochs().end_of(5, high_watermark=44) == (5, 44)


def test_an_older_epoch_ends_where_the_next_one_began() -> None:
    assert three_epochs().end_of(0, high_watermark=44) == (0, 10)
    assert three_epochs().end_of(2, high_watermark=44) == (2, 30)


def test_an_epoch_that_wrote_nothing_is_answered_with_the_one_before_it() -> None:
    assert three_epochs().end_of(4, high_watermark=44) == (2, 30)


def test_epochs_that_never_were_are_unknown() -> None:
    assert three_epochs().end_of(6, high_watermark=44) == UNKNOWN
    assert three_epochs().end_of(-1, high_watermark=44) == UNKNOWN


def test_an_epoch_whose_records_are_gone_is_answered_with_the_first_that_is_left() -> None:
    epochs = three_epochs()
    epochs.forget_below(15)
    assert epochs.starts == [(2, 15), (5, 30)]
    assert epochs.end_of(0, high_watermark=44) == (0, 15)
    epochs.forget_below(60)
    assert epochs.starts == [(5, 60)]


def test_an_epoch_that_began_where_the_last_one_did_replaces_it() -> None:
    epochs = LeaderEpochs()
    epochs.begin(3, start_offset=0)
    assert epochs.starts == [(3, 0)]


def test_a_batch_of_a_higher_leader_epoch_begins_it() -> None:
    state = PartitionState()
    apply_batch(state, data_header(record_count=4))
    apply_batch(state, data_header(base_offset=4, leader_epoch=1))
    apply_batch(state, data_header(base_offset=5, leader_epoch=1))
    assert state.leader_epoch == 1
    assert state.leader_epochs.starts == [(0, 0), (1, 4)]
