"""One transaction as a block: commits at its end, aborts on an exception.

with producer.transaction() as txn:
    for record in consumer.poll(1.0):
        txn.send("invoices", value=invoice(record))
    txn.send_offsets(consumer)

After an abort every consumer whose offsets were to be committed goes back to its committed position: without that the
next transaction would skip the records of this one.
"""

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from fencepost.client.delivery import RecordFuture, TableFuture
from fencepost.client.exceptions import FatalError, FencedError, IllegalState, RetriableError
from fencepost.client.transaction_states import State
from fencepost.client.values import AnyOffsets, ConsumerGroupMetadata, OffsetSource

if TYPE_CHECKING:
    import pyarrow as pa

    from fencepost.client.producer import Producer

END_TRIES = 3


class TransactionBlock:
    def __init__(self, producer: "Producer") -> None:
        self._producer = producer
        self._consumers: list[OffsetSource] = []

    def send(self, topic: str, value: Any = None, key: Any = None, **record: Any) -> RecordFuture:
        return self._producer.send(topic, value, key, **record)

    def send_arrow(self, topic: str, table: "pa.Table | pa.RecordBatch") -> TableFuture:
        return self._producer.send_arrow(topic, table)

    def send_offsets(self, consumer: OffsetSource, offsets: AnyOffsets | None = None) -> None:
        """Commit how far the consumer has come, or the given offsets, with this transaction."""
        if consumer.commits_automatically:
            raise IllegalState(
                "this consumer commits its offsets by itself, outside of the transaction: set enable_auto_commit=False"
            )
        self._consumers.append(consumer)
        given = consumer.consumed_offsets() if offsets is None else offsets
        self._producer.send_offsets_to_transaction(given, consumer.group_metadata())

    def send_offsets_to_transaction(self, offsets: AnyOffsets, group: str | ConsumerGroupMetadata) -> None:
        self._producer.send_offsets_to_transaction(offsets, group)

    def __enter__(self) -> Self:
        self._producer.begin_transaction()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if problem is None:
            try:
                self._commit()
            except (FatalError, FencedError):
                raise
            except BaseException:
                self._abort()
                raise
        else:
            self._abort()

    def _commit(self) -> None:
        for _ in range(END_TRIES - 1):
            try:
                self._producer.commit_transaction()
            except RetriableError:
                continue
            return
        self._producer.commit_transaction()

    def _abort(self) -> None:
        if self._producer.state in (State.IN_TRANSACTION, State.ABORTABLE_ERROR):
            self._producer.abort_transaction()
            for consumer in self._consumers:
                consumer.seek_to_committed()
