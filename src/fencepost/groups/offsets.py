"""Committed offsets, and those that wait for their transaction to end.

* `committed[group][topic-partition]`: what a fetch answers.
* `pending[offsets partition, producer id][group][topic-partition]`: written inside a transaction that is still
  open.
* `open_by_key[group][topic-partition]`: the producers with something pending there; exactly the index of `pending`.

A marker on one partition of `__consumer_offsets` resolves every group of that producer on that partition. The later
*record* wins, not the later marker: the result is the same before and after compaction.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar
from uuid import UUID

from fencepost.types import NO_TIMESTAMP, NO_TOPIC_ID, TopicPartition


class OffsetAndMetadata(NamedTuple):
    """`record_offset` is where the record lies in `__consumer_offsets`; timestamps are wall time."""

    committed_offset: int
    leader_epoch: int = -1
    metadata: str = ""
    commit_timestamp_ms: int = NO_TIMESTAMP
    expire_timestamp_ms: int = NO_TIMESTAMP
    topic_id: UUID = NO_TOPIC_ID
    record_offset: int = -1


class OpenTransaction(NamedTuple):
    """A producer's transaction as one partition of `__consumer_offsets` sees it."""

    offsets_partition: int
    producer_id: int


T = TypeVar("T")

OffsetsByPartition = dict[TopicPartition, OffsetAndMetadata]


class OffsetStore:
    """Changed by `apply_*` only; everything else asks."""

    def __init__(self) -> None:
        self._committed: dict[str, OffsetsByPartition] = {}
        self._pending: dict[OpenTransaction, dict[str, OffsetsByPartition]] = {}
        self._open_by_key: dict[str, dict[TopicPartition, dict[OpenTransaction, None]]] = {}

    def committed(self, group_id: str) -> Mapping[TopicPartition, OffsetAndMetadata]:
        return self._committed.get(group_id, {})

    def has_pending(self, group_id: str, partition: TopicPartition) -> bool:
        return partition in self._open_by_key.get(group_id, {})

    def pending_partitions(self, group_id: str) -> tuple[TopicPartition, ...]:
        return tuple(self._open_by_key.get(group_id, ()))

    def has_group(self, group_id: str) -> bool:
        """Whether anything is kept for this group, committed or pending."""
        return group_id in self._committed or group_id in self._open_by_key

    @property
    def group_count(self) -> int:
        return len(self._committed) + sum(1 for group_id in self._open_by_key if group_id not in self._committed)

    def group_ids(self) -> Iterator[str]:
        yield from self._committed
        yield from (group_id for group_id in self._open_by_key if group_id not in self._committed)

    def all_committed(self) -> Iterator[tuple[str, TopicPartition, OffsetAndMetadata]]:
        for group_id, offsets in self._committed.items():
            for partition, offset in offsets.items():
                yield group_id, partition, offset

    def all_pending(self) -> Iterator[tuple[OpenTransaction, str, TopicPartition, OffsetAndMetadata]]:
        for transaction, groups in self._pending.items():
            for group_id, offsets in groups.items():
                for partition, offset in offsets.items():
                    yield transaction, group_id, partition, offset

    def apply_commit(self, group_id: str, partition: TopicPartition, offset: OffsetAndMetadata) -> None:
        self._committed.setdefault(group_id, {})[partition] = offset

    def apply_pending(
        self, transaction: OpenTransaction, group_id: str, partition: TopicPartition, offset: OffsetAndMetadata
    ) -> None:
        self._pending.setdefault(transaction, {}).setdefault(group_id, {})[partition] = offset
        self._open_by_key.setdefault(group_id, {}).setdefault(partition, {})[transaction] = None

    def apply_tombstone(self, group_id: str, partition: TopicPartition) -> None:
        """Removes what is committed, and cancels what is pending: its transaction must not bring it back."""
        _remove(self._committed, group_id, partition)
        for transaction in tuple(self._open_by_key.get(group_id, {}).get(partition, ())):
            _remove(self._pending[transaction], group_id, partition)
            if not self._pending[transaction]:
                del self._pending[transaction]
        _remove(self._open_by_key, group_id, partition)

    def apply_marker(self, transaction: OpenTransaction, *, is_commit: bool) -> None:
        """A marker for a producer with nothing pending is no event."""
        for group_id, offsets in self._pending.pop(transaction, {}).items():
            for partition, offset in offsets.items():
                self._close(transaction, group_id, partition)
                existing = self._committed.get(group_id, {}).get(partition)
                if is_commit and (existing is None or offset.record_offset > existing.record_offset):
                    self.apply_commit(group_id, partition, offset)

    def _close(self, transaction: OpenTransaction, group_id: str, partition: TopicPartition) -> None:
        transactions = self._open_by_key[group_id][partition]
        del transactions[transaction]
        if not transactions:
            _remove(self._open_by_key, group_id, partition)


def _remove(by_group: dict[str, dict[TopicPartition, T]], group_id: str, partition: TopicPartition) -> None:
    offsets = by_group.get(group_id)
    if offsets is None:
        return
    offsets.pop(partition, None)
    if not offsets:
        del by_group[group_id]
