"""Bytes of `__transaction_state`, against layouts worked out by hand from Kafka's schema."""

import struct

import pytest

from fencepost.errors import CorruptLog
from fencepost.records.record import Record
from fencepost.transactions.log_records import (
    ProducerIdsRecord,
    TransactionLogRecord,
    decode_log_record,
    encode_log_record,
    partition_of,
)
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import Transaction
from fencepost.types import TopicPartition

KEY = b"\x00\x00" + b"\x00\x06shop-0"


def transaction(state: TransactionState, **changes: object) -> Transaction:
    fields: dict[str, object] = {
        "transactional_id": "shop-0",
        "producer_id": 7,
        "producer_epoch": 5,
        "timeout_ms": 60_000,
        "state": state,
        "last_update_timestamp_ms": 2000,
        "start_timestamp_ms": 1000,
    }
    return Transaction(**{**fields, **changes})  # type: ignore[arg-type]


def test_an_empty_id_is_written_with_null_partitions() -> None:
    record = encode_log_record(TransactionLogRecord("shop-0", transaction(TransactionState.EMPTY)), timestamp_ms=9)
    assert record.key == KEY
    assert (
        record.value == struct.pack(">hqhib", 1, 7, 5, 60_000, 0) + b"\x00" + struct.pack(">qq", 2000, 1000) + b"\x00"
    )
    assert record.timestamp_ms == 9


def test_partitions_are_grouped_by_topic_in_order() -> None:
    partitions = frozenset({TopicPartition("b", 1), TopicPartition("a", 3), TopicPartition("a", 0)})
    value = transaction(TransactionState.ONGOING, partitions=partitions)
    record = encode_log_record(TransactionLogRecord("shop-0", value), timestamp_ms=9)
    assert record.value is not None
    expected = (
        b"\x03" + b"\x02a\x03" + struct.pack(">ii", 0, 3) + b"\x00" + b"\x02b\x02" + struct.pack(">i", 1) + b"\x00"
    )
    assert record.value[17:].startswith(expected)


def test_a_tombstone_has_a_key_and_no_value() -> None:
    record = encode_log_record(TransactionLogRecord("shop-0", None), timestamp_ms=9)
    assert (record.key, record.value) == (KEY, None)
    assert decode_log_record(record) == TransactionLogRecord("shop-0", None)


def test_a_value_of_version_0_as_older_brokers_wrote_it_is_read() -> None:
    value = (
        struct.pack(">hqhib", 0, 7, 5, 60_000, 1)
        + struct.pack(">i", 1)
        + b"\x00\x01a"
        + struct.pack(">ii", 1, 3)
        + struct.pack(">qq", 2000, 1000)
    )
    expected = transaction(TransactionState.ONGOING, partitions=frozenset({TopicPartition("a", 3)}))
    assert decode_log_record(Record(key=KEY, value=value)) == TransactionLogRecord("shop-0", expected)


@pytest.mark.parametrize(
    "record",
    [Record(key=b"\x00\x07anything", value=b"\x00\x00"), Record(key=KEY, value=b"\x00\x02from a newer broker")],
)
def test_versions_of_a_newer_broker_are_passed_over(record: Record) -> None:
    assert decode_log_record(record) is None


@pytest.mark.parametrize(
    "record",
    [
        Record(key=None, value=b""),
        Record(key=b"\x00", value=b""),
        Record(key=b"\x00\x00\x00\x09short", value=None),
        Record(key=KEY, value=b"\x00\x01\x00"),
        Record(key=KEY, value=struct.pack(">hqhib", 1, 7, 5, 60_000, 99) + b"\x00" + bytes(16) + b"\x00"),
    ],
)
def test_bytes_that_make_no_sense_are_named_as_corruption(record: Record) -> None:
    with pytest.raises(CorruptLog, match="__transaction_state"):
        decode_log_record(record)


def test_producer_ids_live_on_a_fixed_partition_under_one_key() -> None:
    first = encode_log_record(ProducerIdsRecord(5), timestamp_ms=9)
    second = encode_log_record(ProducerIdsRecord(2**62), timestamp_ms=9)
    assert first.key == second.key
    assert [decode_log_record(first), decode_log_record(second)] == [ProducerIdsRecord(5), ProducerIdsRecord(2**62)]
    assert partition_of(ProducerIdsRecord(5), 50) == TopicPartition("__transaction_state", 0)


def test_an_id_lives_on_the_partition_that_it_hashes_to() -> None:
    assert partition_of(TransactionLogRecord("my-txn-id", None), 50) == TopicPartition("__transaction_state", 11)
