"""One transaction as a block: commits at its end, aborts on an exception.

records = consumer.poll(1.0)
with producer.transaction(consumer) as txn:
    for record in records:
        txn.send("invoices", value=invoice(record))

A consumer that is named at the beginning has its offsets committed with the transaction, unless `send_offsets` did it
before the end. When the block fails, wherever it fails, every consumer whose offsets it was to commit goes back to its
committed position: without that the next transaction would skip the records of this one. `txn.send_offsets(consumer)`
names a consumer too, but only from there on.
"""

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from fencepost.client.exceptions import IllegalState, RetriableError, TransactionAbortable
from fencepost.client.producer.delivery import RecordFuture, TableFuture
from fencepost.client.producer.transaction_manager import State
from fencepost.client.values import AnyOffsets, ConsumerGroupMetadata, OffsetSource

if TYPE_CHECKING:
    import pyarrow as pa

    from fencepost.client.producer.producer import Producer

END_TRIES = 3


class TransactionBlock:
    def __init__(self, producer: "Producer", consumers: tuple[OffsetSource, ...] = ()) -> None:
        for consumer in consumers:
            _check_offsets_are_ours(consumer)
        self._producer = producer
        self._consumers = list(consumers)
        self._unsent = list(consumers)
        self._taken_away_counts: list[int] = []

    def send(self, topic: str, value: Any = None, key: Any = None, **record: Any) -> RecordFuture:
        return self._producer.send(topic, value, key, **record)

    def send_arrow(self, topic: str, table: "pa.Table | pa.RecordBatch") -> TableFuture:
        return self._producer.send_arrow(topic, table)

    def send_offsets(self, consumer: OffsetSource, offsets: AnyOffsets | None = None) -> None:
        """Commit how far the consumer has come, or the given offsets, with this transaction."""
        _check_offsets_are_ours(consumer)
        if all(consumer is not known for known in self._consumers):
            self._consumers.append(consumer)
        self._check_nothing_was_taken_away()
        given = consumer.consumed_offsets() if offsets is None else offsets
        self._producer.send_offsets_to_transaction(given, consumer.group_metadata())
        self._unsent = [other for other in self._unsent if other is not consumer]

    def send_offsets_to_transaction(self, offsets: AnyOffsets, group: str | ConsumerGroupMetadata) -> None:
        self._producer.send_offsets_to_transaction(offsets, group)

    def __enter__(self) -> Self:
        self._taken_away_counts = [consumer.taken_away_count for consumer in self._consumers]
        try:
            self._producer.begin_transaction()
        except BaseException:
            self._go_back()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if problem is not None:
            self._give_up()
            return
        try:
            for consumer in self._unsent:
                self.send_offsets(consumer)
            self._commit()
        except BaseException:
            self._give_up()
            raise

    def _commit(self) -> None:
        for _ in range(END_TRIES - 1):
            try:
                self._producer.commit_transaction()
            except RetriableError:
                continue
            return
        self._producer.commit_transaction()

    def _give_up(self) -> None:
        if self._producer.state is State.COMMITTING_TRANSACTION:
            # `commit_transaction` has to be called again, and where the consumer stands is right once it succeeds.
            return
        try:
            if self._producer.state in (State.IN_TRANSACTION, State.ABORTABLE_ERROR):
                self._producer.abort_transaction()
        finally:
            self._go_back()

    def _go_back(self) -> None:
        """Records that were polled for this block are polled again."""
        for consumer in self._consumers:
            consumer.seek_to_committed()

    def _check_nothing_was_taken_away(self) -> None:
        """A poll inside the block may rebalance: records that this transaction has dealt with are then handed out once
        more, here or to another member, and their offsets are not in `consumed_offsets`."""
        for consumer, before in zip(self._consumers, self._taken_away_counts, strict=False):
            if consumer.taken_away_count != before:
                raise TransactionAbortable(
                    "partitions were taken away by a rebalance after records of them were handed out to this "
                    "transaction: it is aborted, and they are handed out again; to poll before the block avoids that"
                )


def _check_offsets_are_ours(consumer: OffsetSource) -> None:
    if consumer.commits_automatically:
        raise IllegalState(
            "this consumer commits its offsets by itself, outside of the transaction: set enable_auto_commit=False"
        )
