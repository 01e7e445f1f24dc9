import pytest

from fencepost.errors import CorruptLog
from fencepost.partition.apply import apply_aborted_data_cleaned, apply_synced
from fencepost.partition.checkpoint import dump_state, load_state
from fencepost.partition.partition import PartitionState
from tests.unit.partition.driver import PartitionDriver, data_header


def busy_partition() -> PartitionDriver:
    """One of everything: five batches, open, decided and aborted transactions, a log start."""
    partition = PartitionDriver()
    for sequence in range(6):
        partition.send(1, 9, sequence)
    partition.sync()
    partition.delete_records(2)
    partition.send_transactional(2, 0, 0, record_count=3)
    partition.end(2, 1, is_commit=False, coordinator_epoch=11)
    partition.send_transactional(3, 0, 0)
    partition.send_transactional(2, 1, 0)
    apply_synced(partition.state, partition.state.end_offset - 1)
    partition.end(3, 1, is_commit=True)
    partition.produce(data_header(record_count=2))
    return partition


def test_a_loaded_state_equals_the_dumped_one() -> None:
    state = busy_partition().state
    assert load_state(dump_state(state)) == state
    assert load_state(memoryview(dump_state(state))) == state


def test_an_empty_partition_survives() -> None:
    assert load_state(dump_state(PartitionState())) == PartitionState()


def test_a_dump_cut_short_or_too_long_is_corrupt() -> None:
    dump = dump_state(busy_partition().state)
    for length in range(len(dump)):
        with pytest.raises(CorruptLog):
            load_state(dump[:length])
    with pytest.raises(CorruptLog):
        load_state(dump + b"\0")


def test_another_layout_is_refused() -> None:
    dump = dump_state(PartitionState())
    with pytest.raises(CorruptLog, match="layout 2"):
        load_state(b"\x02\x00" + dump[2:])


def test_a_producer_takes_some_150_bytes() -> None:
    state = PartitionDriver()
    for producer_id in range(100):
        for sequence in range(5):
            state.send(producer_id, 0, sequence)
    assert len(dump_state(state.state)) < 100 * 160


def test_an_aborted_transaction_that_was_cleaned_away_stays_forgotten() -> None:
    partition = PartitionDriver()
    partition.send_transactional(2, 0, 0)
    partition.end(2, 1, is_commit=False)
    apply_aborted_data_cleaned(partition.state, [1])
    assert len(load_state(dump_state(partition.state)).aborted) == 0
