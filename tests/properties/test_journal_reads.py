"""Any read of any journal is what a list of batches would give."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.records.header import read_header
from tests.unit.journal.driver import JournalDriver

SIZES = st.one_of(st.integers(0, 40), st.integers(0, 3000))
STEPS = st.lists(st.tuples(SIZES, st.integers(1, 4), st.sampled_from(("append", "commit", "restart"))), max_size=20)


@settings(max_examples=300, deadline=None)
@given(
    steps=STEPS,
    start_offset=st.integers(0, 30),
    end_offset=st.one_of(st.integers(0, 60), st.just(2**62)),
    max_bytes=st.one_of(st.integers(0, 300), st.integers(0, 8000)),
    at_least_one=st.booleans(),
)
def test_a_read_is_what_a_list_would_give(
    steps: list[tuple[int, int, str]], start_offset: int, end_offset: int, max_bytes: int, at_least_one: bool
) -> None:
    driver = JournalDriver(segment_bytes=4096)
    synced: list[bytes] = []
    for size_bytes, record_count, after in steps:
        driver.append(1, bytes(size_bytes), record_count=record_count)
        driver.append(2, bytes(50))
        if after == "commit":
            driver.journal.commit()
        elif after == "restart":
            driver.restart()
        if after != "append":
            synced = list(driver.appended[1])
    expected: list[bytes] = []
    for batch in synced:
        if read_header(batch).last_offset < start_offset:
            continue
        is_free = at_least_one and not expected
        if read_header(batch).last_offset >= end_offset or (len(batch) > max_bytes and not is_free):
            break
        expected.append(batch)
        max_bytes -= len(batch)
    total_bytes = max_bytes + sum(map(len, expected))
    found = driver.read(1, start_offset, end_offset=end_offset, max_bytes=total_bytes, at_least_one=at_least_one)
    assert found == expected
