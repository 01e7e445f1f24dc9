"""The states of a transactional id, and every arrow between them, as data.

`docs/transactions.md` draws its diagram from `LEGAL_TRANSITIONS`. `apply` looks each arrow up here; a missing one is
our own bug, never a client's. The numbers are those of TransactionStatus in `__transaction_state`.

PREPARE, the markers and COMPLETE of one end go into one commit group, so between requests only Empty, Ongoing and
Complete* are to be seen. A crash may keep any prefix of that group: recovery can find Prepare* and finishes it.
"""

from enum import IntEnum


class TransactionState(IntEnum):
    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def kafka_name(self) -> str:
        """The name that DescribeTransactions and ListTransactions use: `PrepareCommit`."""
        return KAFKA_NAMES[self]

    @property
    def is_prepare(self) -> bool:
        """Decided, and waiting for its markers and COMPLETE."""
        return self in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)

    @property
    def is_complete(self) -> bool:
        return self in (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)

    @property
    def can_expire(self) -> bool:
        return self is TransactionState.EMPTY or self.is_complete


KAFKA_NAMES = {state: state.name.title().replace("_", "") for state in TransactionState}
STATE_BY_KAFKA_NAME = {name: state for state, name in KAFKA_NAMES.items()}

STATE_DOCS = {
    TransactionState.EMPTY: "has an identity (producer id and epoch) and no transaction; may expire",
    TransactionState.ONGOING: "partitions have been added; the timeout runs; can be added to and ended",
    TransactionState.PREPARE_COMMIT: "commit is decided and durable; seen only by recovery; answers 51",
    TransactionState.PREPARE_ABORT: "abort is decided and durable; seen only by recovery; answers 51",
    TransactionState.COMPLETE_COMMIT: "committed, all markers written; a repeated commit is recognised; may expire",
    TransactionState.COMPLETE_ABORT: "aborted, all markers written; a repeated abort is recognised; may expire",
    TransactionState.DEAD: "expired; a tombstone takes the id out, so it is never stored",
    TransactionState.PREPARE_EPOCH_FENCE: "the coordinator is about to abort; part of one decision here, never stored",
}

Arrow = tuple[TransactionState, TransactionState]

LEGAL_TRANSITIONS: dict[Arrow, str] = {
    (TransactionState.EMPTY, TransactionState.EMPTY): "InitProducerId",
    (TransactionState.COMPLETE_COMMIT, TransactionState.EMPTY): "InitProducerId",
    (TransactionState.COMPLETE_ABORT, TransactionState.EMPTY): "InitProducerId",
    (TransactionState.EMPTY, TransactionState.ONGOING): "first partition added",
    (TransactionState.COMPLETE_COMMIT, TransactionState.ONGOING): "first partition added",
    (TransactionState.COMPLETE_ABORT, TransactionState.ONGOING): "first partition added",
    (TransactionState.ONGOING, TransactionState.ONGOING): "partitions added, or prepared transaction kept",
    (TransactionState.ONGOING, TransactionState.PREPARE_COMMIT): "EndTxn(commit)",
    (TransactionState.ONGOING, TransactionState.PREPARE_ABORT): "EndTxn(abort)",
    (TransactionState.ONGOING, TransactionState.PREPARE_EPOCH_FENCE): "timeout, or InitProducerId of another",
    (TransactionState.PREPARE_EPOCH_FENCE, TransactionState.PREPARE_ABORT): "the coordinator's abort",
    (TransactionState.EMPTY, TransactionState.PREPARE_ABORT): "EndTxn(abort) v5 with nothing open",
    (TransactionState.COMPLETE_COMMIT, TransactionState.PREPARE_ABORT): "EndTxn(abort) v5 with nothing open",
    (TransactionState.COMPLETE_ABORT, TransactionState.PREPARE_ABORT): "EndTxn(abort) v5 with nothing open",
    (TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT): "markers written",
    (TransactionState.PREPARE_ABORT, TransactionState.COMPLETE_ABORT): "markers written",
    (TransactionState.EMPTY, TransactionState.DEAD): "expired",
    (TransactionState.COMPLETE_COMMIT, TransactionState.DEAD): "expired",
    (TransactionState.COMPLETE_ABORT, TransactionState.DEAD): "expired",
}

NEVER_STORED = frozenset({TransactionState.DEAD, TransactionState.PREPARE_EPOCH_FENCE})
