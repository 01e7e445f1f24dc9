"""The producer: records in, futures out; with a transactional id, transactions around them.

Idempotent unless set otherwise: what is acknowledged is stored once, in the order of `send`, whatever was lost on the
way. All calls are thread-safe. Not to be used on both sides of a fork: a child process makes its own.
"""

import os
import random
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Any

from fencepost.client.cluster import Cluster
from fencepost.client.exceptions import ClientError, IllegalState, RecordTooLarge, Timeout, TransactionAborted
from fencepost.client.net.metadata import TopicMetadata
from fencepost.client.producer.batch import record_bytes_max
from fencepost.client.producer.delivery import RecordFuture, TableFuture
from fencepost.client.producer.numbering import IdempotentNumbering, Numbering
from fencepost.client.producer.sender import Sender
from fencepost.client.producer.transaction_block import TransactionBlock
from fencepost.client.producer.transaction_manager import State, TransactionManager
from fencepost.client.serializers import Serializer, serialize_bytes
from fencepost.client.settings import ProducerSettings, client_settings
from fencepost.client.time_limits import Closing, Deadline
from fencepost.client.transaction_control import TransactionControl
from fencepost.client.values import (
    AnyOffsets,
    ConsumerGroupMetadata,
    OffsetSource,
    ProducerIdentity,
    normalized_offsets,
)
from fencepost.errors import ErrorCode
from fencepost.records.header import HEADER_BYTES
from fencepost.records.record import Record
from fencepost.types import NO_OFFSET, TopicPartition

if TYPE_CHECKING:
    import pyarrow as pa


_MASK = 0xFFFF_FFFF
_MULTIPLIER = 0x5BD1_E995
_SEED = 0x9747_B28C
_POSITIVE = 0x7FFF_FFFF
_WORDS = {count: Struct(f"<{count}I") for count in range(1, 65)}

Choose = Callable[[Sequence[int]], int]


def murmur2(key: bytes) -> int:
    """Kafka's hash of a key, as the unsigned number whose bits Java shows signed."""
    length = len(key)
    hashed = (_SEED ^ length) & _MASK
    word_count = length >> 2
    if word_count:
        words = _WORDS.get(word_count) or Struct(f"<{word_count}I")
        for word in words.unpack_from(key):
            word = (word * _MULTIPLIER) & _MASK
            word = ((word ^ (word >> 24)) * _MULTIPLIER) & _MASK
            hashed = ((hashed * _MULTIPLIER) & _MASK) ^ word
    rest = length & 3
    if rest:
        hashed = ((hashed ^ int.from_bytes(key[length - rest :], "little")) * _MULTIPLIER) & _MASK
    hashed = ((hashed ^ (hashed >> 13)) * _MULTIPLIER) & _MASK
    return hashed ^ (hashed >> 15)


def partition_for_key(key: bytes, partition_count: int) -> int:
    """Where a record with this key goes. A whole column of keys goes through `records/columnar/__init__.py`."""
    return (murmur2(key) & _POSITIVE) % partition_count


class StickyPartitioner:
    """Records without a key stay on one partition for `batch_size` bytes, then move on (KIP-480, KIP-794)."""

    def __init__(self, batch_size: int, choose: Choose) -> None:
        self._batch_size = max(1, batch_size)
        self._choose = choose
        self._current: dict[str, tuple[int, int]] = {}

    def partition(self, topic: str, available: Sequence[int], size_bytes: int) -> int:
        """Where the next `size_bytes` go. `available` are the partitions with a leader, at least one."""
        partition, used_bytes = self._current.get(topic, (-1, self._batch_size))
        if used_bytes >= self._batch_size or partition not in available:
            others = [candidate for candidate in available if candidate != partition]
            partition, used_bytes = self._choose(others or available), 0
        self._current[topic] = (partition, used_bytes + size_bytes)
        return partition


CLOSE_TIMEOUT_S = 30.0


class Producer(Closing):
    """`settings` are Kafka's own in snake_case: `Producer("localhost:9092", linger_ms=20, compression_type="zstd")`."""

    def __init__(
        self,
        bootstrap_servers: str | Iterable[str],
        *,
        key_serializer: Serializer = serialize_bytes,
        value_serializer: Serializer = serialize_bytes,
        **settings: Any,
    ) -> None:
        self._settings = client_settings(ProducerSettings, settings, kind="producer")
        self._serialize_key = key_serializer
        self._serialize_value = value_serializer
        self._cluster = Cluster(bootstrap_servers, self._settings)
        self._transactions: TransactionManager | None = None
        self._sticky = StickyPartitioner(self._settings.batch_size, random.choice)
        self._max_message_bytes: dict[str, int] = {}
        self._process_id = os.getpid()
        self._is_closed = False
        self._sender = Sender(self._cluster, self._make_numbering(), self._settings)
        self._outbox = self._sender.outbox

    def _make_numbering(self) -> Numbering:
        settings = self._settings
        if settings.transactional_id:
            self._transactions = TransactionManager(
                TransactionControl(self._cluster, settings.transactional_id),
                transaction_timeout_ms=settings.transaction_timeout_ms,
                call_timeout_s=settings.request_timeout_ms / 1000,
            )
            return self._transactions
        return IdempotentNumbering(self._cluster) if settings.enable_idempotence else Numbering()

    @property
    def settings(self) -> ProducerSettings:
        return self._settings

    @property
    def cluster(self) -> Cluster:
        return self._cluster

    @property
    def state(self) -> State | None:
        """Where a transactional producer stands; None for any other."""
        return None if self._transactions is None else self._transactions.state

    @property
    def identity(self) -> ProducerIdentity | None:
        """The producer id and epoch of a transactional producer."""
        return None if self._transactions is None else self._transactions.identity

    def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        headers: Iterable[tuple[str, bytes | None]] = (),
        timestamp_ms: int | None = None,
    ) -> RecordFuture:
        """Put a record on its way. The future has its offset, or what kept it from being stored.

        Waits, up to `max.block.ms`, for the topic's metadata and for room in `buffer.memory`.
        """
        transaction_number = self._check_can_send()
        key_bytes, value_bytes, some_headers = self._serialize_key(key), self._serialize_value(value), tuple(headers)
        record_bytes = record_bytes_max(key_bytes, value_bytes, some_headers)
        self._check_size(topic, HEADER_BYTES + record_bytes)
        deadline = self._deadline()
        metadata = self._topic(topic, deadline)
        chosen = self._choose_partition(metadata, partition, key_bytes, HEADER_BYTES + record_bytes)
        check = partial(self._check_still_in, transaction_number)
        if timestamp_ms is None:  # not before the wait for metadata
            timestamp_ms = time.time_ns() // 1_000_000
        record = Record(NO_OFFSET, timestamp_ms, key_bytes, value_bytes, some_headers)
        return self._outbox.put(TopicPartition(topic, chosen), record, record_bytes, deadline, check)

    def send_arrow(self, topic: str, table: "pa.Table | pa.RecordBatch") -> TableFuture:
        """All rows of a table, without a Python object for each: column `value`, and `key`, `partition`, `headers`,
        `timestamp` where they are there. A row whose partition is null or not given goes where its key says.
        """
        from fencepost.client.admin.topics import max_message_bytes
        from fencepost.client.producer.arrow_sending import ArrowSending

        check = partial(self._check_still_in, self._check_can_send())
        deadline = self._deadline()
        metadata = self._topic(topic, deadline)
        if len(table):
            self._sender.expect_records()
        if topic not in self._max_message_bytes:
            self._max_message_bytes[topic] = max_message_bytes(self._cluster, topic)
        sending = ArrowSending(
            self._settings, metadata, max_message_bytes=self._max_message_bytes[topic], is_sealed=False
        )
        deliveries = [
            self._outbox.put_whole(topic_partition, batch, is_sealed=False, deadline=self._deadline(), check=check)
            for topic_partition, batch in sending.batches(table)
        ]
        return TableFuture(deliveries, len(table))

    def flush(self, timeout: float | None = None) -> None:
        """Send everything and wait until it is settled, well or badly; the futures say which. `timeout` in seconds."""
        self._check_usable()
        self._settle(Deadline(timeout))

    def partitions_for(self, topic: str) -> list[int]:
        self._check_usable()
        metadata = self._topic(topic, Deadline(self._settings.max_block_ms / 1000))
        return sorted(metadata.partitions)

    # Transactions

    def init_transactions(self) -> None:
        """Take over the transactional id: fences older producers with it and finishes what they left open."""
        self._transactional("init_transactions").init(self._deadline())

    def begin_transaction(self) -> None:
        self._transactional("begin_transaction").begin()

    def send_offsets_to_transaction(self, offsets: AnyOffsets, group: str | ConsumerGroupMetadata) -> None:
        """Commit a consumer's offsets with this transaction. With `consumer.group_metadata()` the coordinator refuses
        a consumer that was replaced; with a bare group id it cannot."""
        transactions = self._transactional("send_offsets_to_transaction")
        metadata = ConsumerGroupMetadata(group) if isinstance(group, str) else group
        transactions.send_offsets(normalized_offsets(offsets), metadata, self._deadline())

    def commit_transaction(self) -> None:
        """Flush, then commit. After `Timeout` call it again: nothing else settles what the coordinator decided."""
        self._transactional("commit_transaction").commit(self._deadline(), self._settle)

    def abort_transaction(self) -> None:
        """Give up the transaction. After `Timeout` call it again."""
        why = TransactionAborted("the transaction was aborted before the record was sent")
        self._transactional("abort_transaction").abort(self._deadline(), partial(self._give_up, why))

    def transaction(self, *consumers: OffsetSource) -> TransactionBlock:
        """`with producer.transaction(consumer) as txn:` commits at its end, the consumer's offsets included; on an
        exception it aborts and sets the consumer back to its committed position."""
        self._transactional("transaction")
        return TransactionBlock(self, consumers)

    # The end

    def close(self, timeout: float | None = None) -> None:
        """Send what waits, abort an open transaction, end the thread, all within `timeout` seconds."""
        if self._is_closed:
            return
        if self._process_id != os.getpid():
            self._is_closed = True
            return
        deadline = Deadline(CLOSE_TIMEOUT_S if timeout is None else timeout)
        try:
            if self.state in (State.IN_TRANSACTION, State.ABORTABLE_ERROR):
                why = TransactionAborted("the producer was closed within a transaction")
                self._transactional("close").abort(deadline, partial(self._give_up, why))
            else:
                self._settle(deadline)
        except ClientError:
            pass
        finally:
            self._is_closed = True
            has_ended = self._sender.stop(deadline.remaining_s + 1)
            self._cluster.close()
        if not has_ended:
            raise Timeout("the producer's thread did not end in time")

    def _deadline(self) -> Deadline:
        return Deadline(self._settings.max_block_ms / 1000)

    def _transactional(self, call: str) -> TransactionManager:
        self._check_usable()
        if self._transactions is None:
            raise IllegalState(f"{call} needs a producer with a transactional_id")
        return self._transactions

    def _check_can_send(self) -> int:
        """Returns the number of the transaction that is open; 0 where there are none."""
        self._check_usable()
        return 0 if self._transactions is None else self._transactions.check_can_send()

    def _check_still_in(self, transaction_number: int) -> None:
        """A call may take long, or wait for memory, while another thread ends the transaction in which it was made."""
        if self._check_can_send() != transaction_number:
            raise IllegalState("the transaction in which this was sent has ended meanwhile, and another one has begun")

    def _check_usable(self) -> None:
        if self._is_closed:
            raise IllegalState("the producer is closed")
        if self._process_id != os.getpid():
            raise IllegalState("the producer was made before a fork: make one in this process")

    def _check_size(self, topic: str, size_bytes: int) -> None:
        limit, name = self._settings.max_request_size, "max.request.size"
        if self._settings.buffer_memory < limit:
            limit, name = self._settings.buffer_memory, "buffer.memory"
        if size_bytes > limit:
            raise RecordTooLarge(
                f"a record of {size_bytes} bytes for '{topic}' is more than {name}={limit}",
                error_code=ErrorCode.MESSAGE_TOO_LARGE,
            )

    def _topic(self, topic: str, deadline: Deadline) -> TopicMetadata:
        known = self._cluster.metadata.topics.get(topic)
        return known if known is not None and known.partitions else self._cluster.topic(topic, deadline)

    def _choose_partition(self, topic: TopicMetadata, partition: int | None, key: bytes | None, size_bytes: int) -> int:
        if partition is not None:
            if partition not in topic.partitions:
                raise IllegalState(f"'{topic.name}' has {topic.partition_count} partitions, there is no {partition}")
            return partition
        if key is not None:
            return partition_for_key(key, topic.partition_count)
        return self._sticky.partition(topic.name, topic.available_partitions or sorted(topic.partitions), size_bytes)

    def _give_up(self, why: ClientError, deadline: Deadline) -> None:
        self._sender.drop_waiting(why)
        self._settle(deadline)

    def _settle(self, deadline: Deadline) -> None:
        if self._sender.is_current_thread:
            raise IllegalState("a delivery callback cannot wait for deliveries: it runs on the sender's thread")
        self._outbox.settle(deadline)
