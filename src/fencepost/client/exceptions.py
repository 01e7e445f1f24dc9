"""What the client raises, by Kafka's names, beneath four categories that say what the caller can do.

* `RetriableError`: the same call may succeed later; the client has tried until its time limit.
* `AbortableError`: this transaction cannot go on; abort it and do its work again. The producer lives.
* `FencedError`: a newer owner has taken over this identity. This client never sends again: close it.
* `FatalError`: nothing that the client does can help; close it and look at the cause.

Which category an error code has, and whether that depends on the request, is `error_table.py`.
"""

from typing import NamedTuple

from fencepost.errors import ErrorCode, FencepostError
from fencepost.types import TopicPartition

# ruff: noqa: N818 - the classes carry Kafka's names


class BrokerAnswer(NamedTuple):
    """The parts of a refusal's message."""

    what: str
    """What was refused: a topic, a group, a partition; empty if the request names nothing."""
    api_name: str
    code_name: str
    explanation: str

    def __str__(self) -> str:
        answered = f"{self.api_name} was answered with {self.code_name}: {self.explanation}"
        return f"{self.what}: {answered}" if self.what else answered


class ClientError(FencepostError):
    """Everything that the client raises. `error_code` and `answer` are None for what no broker said."""

    def __init__(
        self, message: str = "", *, error_code: ErrorCode | None = None, answer: BrokerAnswer | None = None
    ) -> None:
        super().__init__(message or type(self).__doc__ or type(self).__name__)
        self.error_code = error_code
        self.answer = answer


class RetriableError(ClientError):
    """The same call may succeed later."""


class AbortableError(ClientError):
    """Abort the transaction and do its work again."""


class FencedError(ClientError):
    """A newer owner has taken over; this client is finished."""


class FatalError(ClientError):
    """Nothing that this client does can help."""


class Authorization(ClientError):
    """The principal may not do this."""


class Disconnected(RetriableError):
    """The connection to a broker was refused or lost; whether a request on it had an effect is unknown."""


class Timeout(RetriableError):
    """What was asked for did not happen within its time limit; whether a request had an effect is unknown."""


class RetriableBrokerError(RetriableError):
    """A broker could not do it at that moment."""


class UnknownTopicOrPartition(RetriableError):
    """The cluster does not know this topic or partition, or not yet."""


class NotLeaderOrFollower(RetriableError):
    """The partition's leader is somewhere else."""


class CoordinatorUnavailable(RetriableError):
    """The coordinator is moving, loading, or somewhere else."""


class ConcurrentTransactions(RetriableError):
    """The transactional id is still finishing its previous transaction."""


class UnstableOffsetCommit(RetriableError):
    """Offsets of an open transaction are pending."""


class BufferExhausted(Timeout):
    """There was no room in `buffer.memory` within `max.block.ms`."""


class InvalidProducerEpoch(AbortableError):
    """A partition has seen a newer epoch of this producer: the transaction timed out, or another producer took over."""


class InvalidTxnState(AbortableError):
    """No such transaction is open (any more), or the partition is no part of it."""


class TransactionAbortable(AbortableError):
    """The broker asks for this transaction to be aborted."""


class TransactionAborted(AbortableError):
    """The record was not sent because its transaction was aborted."""


class OutOfOrderSequence(AbortableError):
    """The partition expected another sequence: an earlier record batch was lost or refused."""


class UnknownProducerId(AbortableError):
    """The partition has forgotten this producer."""


class DuplicateSequence(AbortableError):
    """The partition has this record batch already. Nothing is lost; producers take it for success."""


class GroupFenced(AbortableError):
    """The consumer has left the group or fallen behind a rebalance: its offsets are not to be committed."""


class TopicAuthorization(AbortableError, Authorization):
    """The principal may not use this topic."""


class GroupAuthorization(AbortableError, Authorization):
    """The principal may not use this group."""


class RecordTooLarge(AbortableError):
    """A record that no request, buffer or partition can take."""


class InvalidRecord(AbortableError):
    """A partition refused the record itself."""


class ProducerFenced(FencedError):
    """Another producer with this transactional id has taken over."""


class FencedInstanceId(FencedError):
    """Another consumer with this group.instance.id has taken over."""


class ClusterAuthorization(FatalError, Authorization):
    """The principal may not do this on the cluster."""


class TransactionalIdAuthorization(FatalError, Authorization):
    """The principal may not use this transactional id."""


class AuthenticationFailed(FatalError):
    """The broker does not accept who we say we are."""


class IllegalState(FatalError):
    """The call does not fit what the client is doing: a mistake in the order of calls."""


class UnsupportedVersion(FatalError):
    """The broker and the client share no version of this request, or the broker lacks a feature."""


class InvalidTransactionTimeout(FatalError):
    """transaction.timeout.ms is more than the broker allows (its transaction.max.timeout.ms)."""


class InvalidProducerIdMapping(FatalError):
    """The coordinator has forgotten this transactional id or gave it another producer id: make a new producer."""


class InvalidTopic(FatalError):
    """No topic can have this name."""


class InvalidRequest(FatalError):
    """The broker refused the request itself."""


class UnknownServerError(FatalError):
    """The broker met an error that it has no name for."""


class PartitionProblem(FatalError):
    """Reading cannot go on here; other partitions, and this one after a `seek`, can."""

    # Only consumers raise it. It names the partition and the offset, because `seek` is what usually helps.

    def __init__(self, topic_partition: TopicPartition, offset: int | None, message: str) -> None:
        position = "" if offset is None else f" at offset {offset}"
        super().__init__(f"{topic_partition}{position}: {message}")
        self.topic_partition = topic_partition
        self.offset = offset


class OffsetOutOfRange(PartitionProblem):
    """The position is outside the partition, and auto.offset.reset=none forbids to choose another."""


class NoOffsetForPartition(PartitionProblem):
    """There is no committed offset, and auto.offset.reset=none forbids to choose one."""


class CorruptRecord(PartitionProblem):
    """A record batch fails its checksum or cannot be read. Its records were not delivered."""


class RecordDeserialization(PartitionProblem):
    """A deserializer could not read a key or value. The record was not delivered."""


class CommitFailed(GroupFenced):
    """The consumer is not, or no longer, a member of its group: another one may own these partitions."""


class RebalanceInProgress(CommitFailed):
    """A rebalance is under way: after the next `poll` the same offsets can be committed, where still assigned."""
