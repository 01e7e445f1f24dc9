"""Whatever the coordinator can hold, its log gives back: fields as wide as their types on the wire."""

from hypothesis import given
from hypothesis import strategies as st

from fencepost.records.builder import build_batch
from fencepost.records.reader import read_records
from fencepost.transactions.log_records import (
    VALUE_VERSION,
    Cause,
    ProducerIdsRecord,
    TransactionLogRecord,
    decode_log_record,
    encode_log_record,
)
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import Transaction
from fencepost.types import TopicPartition
from fencepost.wire.messages.transaction_log import TransactionLogValue

INT16 = st.integers(-(2**15), 2**15 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
PARTITIONS = st.frozensets(st.builds(TopicPartition, TEXT, INT32), max_size=20)
CAUSES = st.none() | st.builds(Cause, TEXT, TEXT, TEXT)


@st.composite
def transaction_log_records(draw: st.DrawFn) -> TransactionLogRecord:
    transactional_id = draw(TEXT)
    if draw(st.booleans()):
        return TransactionLogRecord(transactional_id, None)
    state = draw(st.sampled_from(TransactionState))
    transaction = Transaction(
        transactional_id=transactional_id,
        producer_id=draw(INT64),
        producer_epoch=draw(INT16),
        timeout_ms=draw(INT32),
        state=state,
        last_update_timestamp_ms=draw(INT64),
        previous_producer_id=draw(INT64),
        next_producer_id=draw(INT64),
        next_producer_epoch=draw(INT16),
        last_producer_epoch=draw(INT16),
        partitions=frozenset() if state is TransactionState.EMPTY else draw(PARTITIONS),
        start_timestamp_ms=draw(INT64),
        client_transaction_version=draw(INT16),
    )
    return TransactionLogRecord(transactional_id, transaction, draw(CAUSES))


@given(record=transaction_log_records() | st.builds(ProducerIdsRecord, INT64), timestamp_ms=st.integers(0, 2**62))
def test_a_record_survives_its_bytes_and_a_batch_around_them(
    record: TransactionLogRecord | ProducerIdsRecord, timestamp_ms: int
) -> None:
    batch = build_batch([encode_log_record(record, timestamp_ms=timestamp_ms)])
    (read_back,) = read_records(batch)
    assert decode_log_record(read_back) == record
    assert read_back.timestamp_ms == timestamp_ms


@given(record=transaction_log_records())
def test_the_bytes_of_a_value_are_those_of_the_message_that_reads_it(record: TransactionLogRecord) -> None:
    encoded = encode_log_record(record, timestamp_ms=0).value
    assert encoded is None or TransactionLogValue.from_bytes(encoded).to_bytes(VALUE_VERSION) == encoded


@given(record=transaction_log_records(), timestamp_ms=st.integers(0, 2**62))
def test_equal_values_have_equal_bytes(record: TransactionLogRecord, timestamp_ms: int) -> None:
    encoded = encode_log_record(record, timestamp_ms=timestamp_ms)
    decoded = decode_log_record(encoded)
    assert decoded is not None
    assert encode_log_record(decoded, timestamp_ms=timestamp_ms) == encoded
