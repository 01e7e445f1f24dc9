"""What the transaction log says about an id: `__transaction_state`, read like any topic.

Compaction leaves the newest record of each id at least; what it has removed is not told. On our broker the record of a
changed identity names the client behind it, which Kafka's does not.
"""

from collections.abc import Iterable
from typing import NamedTuple

from fencepost.client.admin import Admin
from fencepost.client.admin_inspecting import Outcome, inspect_batches
from fencepost.client.time_limits import Deadline
from fencepost.java_hash import partition_for
from fencepost.records.reader import read_records
from fencepost.settings import INT64_MAX
from fencepost.transactions.log_entries import Cause, TransactionLogRecord
from fencepost.transactions.log_records import TRANSACTION_STATE_TOPIC, decode_log_record
from fencepost.transactions.states import TransactionState
from fencepost.transactions.transaction import Transaction
from fencepost.types import OffsetRange, TopicPartition


class StateChange(NamedTuple):
    topic_partition: TopicPartition
    offset: int
    transaction: Transaction
    cause: Cause | None

    @property
    def at_ms(self) -> int:
        return self.transaction.last_update_timestamp_ms

    @property
    def state(self) -> TransactionState:
        return self.transaction.state


def read_history(admin: Admin, transactional_id: str, *, deadline: Deadline) -> list[StateChange]:
    """Every state of the id that is still in the log, oldest first."""
    count = admin.describe_topics([TRANSACTION_STATE_TOPIC])[TRANSACTION_STATE_TOPIC].partition_count
    where = TopicPartition(TRANSACTION_STATE_TOPIC, partition_for(transactional_id, count))
    changes = []
    for batch in inspect_batches(admin.cluster, where, OffsetRange(0, INT64_MAX), deadline=deadline):
        if batch.outcome is Outcome.MARKER:
            continue
        for record in read_records(batch.batch):
            stored = decode_log_record(record)
            if not isinstance(stored, TransactionLogRecord) or stored.transaction is None:
                continue
            if stored.transactional_id == transactional_id:
                changes.append(StateChange(where, record.offset, stored.transaction, stored.cause))
    return changes


def split_transactions(changes: Iterable[StateChange]) -> list[list[StateChange]]:
    """The changes of each transaction, oldest first, each with the InitProducerId before it if there was one."""
    transactions: list[list[StateChange]] = []
    waiting: list[StateChange] = []
    for change in changes:
        if change.state is TransactionState.EMPTY:
            waiting = [change]
        elif waiting or not transactions or transactions[-1][-1].state.is_complete:
            transactions.append([*waiting, change])
            waiting = []
        else:
            transactions[-1].append(change)
    return transactions


def last_client(changes: Iterable[StateChange]) -> str | None:
    """Who was given the identity, where the log says so."""
    causes = [change.cause for change in changes if change.cause is not None and change.cause.client_id]
    return f"{causes[-1].client_id} at {causes[-1].address}" if causes else None
