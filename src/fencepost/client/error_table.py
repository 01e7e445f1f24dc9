"""One table: what each error code means to a client, and where that depends on the request.

`category_of` and `error_of` are the only places that read codes. A code that is not listed is FATAL. Produce turns
INVALID_TXN_STATE and INVALID_PRODUCER_EPOCH into reasons to abort (KIP-588); from a coordinator they are the end.
"""

from enum import Enum
from typing import NamedTuple

from fencepost.client import exceptions
from fencepost.client.exceptions import (
    AbortableError,
    BrokerAnswer,
    ClientError,
    CommitFailed,
    CoordinatorUnavailable,
    FatalError,
    GroupFenced,
    ProducerFenced,
    RebalanceInProgress,
    RetriableBrokerError,
)
from fencepost.errors import ErrorCode


class Category(Enum):
    """What the caller can do, by the class beneath which the exception is."""

    RETRIABLE = exceptions.RetriableError
    ABORTABLE = AbortableError
    FENCED = exceptions.FencedError
    FATAL = FatalError


class Meaning(NamedTuple):
    category: Category
    exception_class: type[ClientError]


_E = ErrorCode

EXCEPTIONS: dict[ErrorCode, type[ClientError]] = {
    # The broker, or the way to it, is not ready.
    _E.CORRUPT_MESSAGE: RetriableBrokerError,
    _E.UNKNOWN_TOPIC_OR_PARTITION: exceptions.UnknownTopicOrPartition,
    _E.UNKNOWN_TOPIC_ID: exceptions.UnknownTopicOrPartition,
    _E.INCONSISTENT_TOPIC_ID: exceptions.UnknownTopicOrPartition,
    _E.LEADER_NOT_AVAILABLE: exceptions.NotLeaderOrFollower,
    _E.NOT_LEADER_OR_FOLLOWER: exceptions.NotLeaderOrFollower,
    _E.FENCED_LEADER_EPOCH: exceptions.NotLeaderOrFollower,
    _E.UNKNOWN_LEADER_EPOCH: exceptions.NotLeaderOrFollower,
    _E.REPLICA_NOT_AVAILABLE: exceptions.NotLeaderOrFollower,
    _E.LISTENER_NOT_FOUND: exceptions.NotLeaderOrFollower,
    _E.REQUEST_TIMED_OUT: exceptions.Timeout,
    _E.NETWORK_EXCEPTION: exceptions.Disconnected,
    _E.BROKER_NOT_AVAILABLE: RetriableBrokerError,
    _E.NOT_CONTROLLER: RetriableBrokerError,
    _E.NOT_ENOUGH_REPLICAS: RetriableBrokerError,
    _E.NOT_ENOUGH_REPLICAS_AFTER_APPEND: RetriableBrokerError,
    _E.KAFKA_STORAGE_ERROR: RetriableBrokerError,
    _E.OFFSET_NOT_AVAILABLE: RetriableBrokerError,
    _E.THROTTLING_QUOTA_EXCEEDED: RetriableBrokerError,
    _E.FETCH_SESSION_ID_NOT_FOUND: RetriableBrokerError,
    _E.INVALID_FETCH_SESSION_EPOCH: RetriableBrokerError,
    _E.FETCH_SESSION_TOPIC_ID_ERROR: RetriableBrokerError,
    _E.COORDINATOR_LOAD_IN_PROGRESS: CoordinatorUnavailable,
    _E.COORDINATOR_NOT_AVAILABLE: CoordinatorUnavailable,
    _E.NOT_COORDINATOR: CoordinatorUnavailable,
    _E.CONCURRENT_TRANSACTIONS: exceptions.ConcurrentTransactions,
    _E.UNSTABLE_OFFSET_COMMIT: exceptions.UnstableOffsetCommit,
    # This piece of work is lost, the client is not.
    _E.MESSAGE_TOO_LARGE: exceptions.RecordTooLarge,
    _E.RECORD_LIST_TOO_LARGE: exceptions.RecordTooLarge,
    _E.INVALID_RECORD: exceptions.InvalidRecord,
    _E.INVALID_TIMESTAMP: exceptions.InvalidRecord,
    _E.OUT_OF_ORDER_SEQUENCE_NUMBER: exceptions.OutOfOrderSequence,
    _E.DUPLICATE_SEQUENCE_NUMBER: exceptions.DuplicateSequence,
    _E.UNKNOWN_PRODUCER_ID: exceptions.UnknownProducerId,
    _E.TRANSACTION_ABORTABLE: exceptions.TransactionAbortable,
    _E.OPERATION_NOT_ATTEMPTED: AbortableError,
    _E.TOPIC_AUTHORIZATION_FAILED: exceptions.TopicAuthorization,
    _E.GROUP_AUTHORIZATION_FAILED: exceptions.GroupAuthorization,
    _E.OFFSET_METADATA_TOO_LARGE: AbortableError,
    _E.ILLEGAL_GENERATION: GroupFenced,
    _E.UNKNOWN_MEMBER_ID: GroupFenced,
    _E.REBALANCE_IN_PROGRESS: GroupFenced,
    _E.FENCED_MEMBER_EPOCH: GroupFenced,
    _E.STALE_MEMBER_EPOCH: GroupFenced,
    _E.GROUP_ID_NOT_FOUND: GroupFenced,
    # A newer owner is there.
    _E.PRODUCER_FENCED: ProducerFenced,
    _E.INVALID_PRODUCER_EPOCH: ProducerFenced,
    _E.FENCED_INSTANCE_ID: exceptions.FencedInstanceId,
    # The end.
    _E.UNKNOWN_SERVER_ERROR: exceptions.UnknownServerError,
    _E.INVALID_TXN_STATE: FatalError,
    _E.INVALID_PRODUCER_ID_MAPPING: exceptions.InvalidProducerIdMapping,
    _E.INVALID_TRANSACTION_TIMEOUT: exceptions.InvalidTransactionTimeout,
    _E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: exceptions.TransactionalIdAuthorization,
    _E.CLUSTER_AUTHORIZATION_FAILED: exceptions.ClusterAuthorization,
    _E.SASL_AUTHENTICATION_FAILED: exceptions.AuthenticationFailed,
    _E.UNSUPPORTED_SASL_MECHANISM: exceptions.AuthenticationFailed,
    _E.ILLEGAL_SASL_STATE: exceptions.AuthenticationFailed,
    _E.UNSUPPORTED_VERSION: exceptions.UnsupportedVersion,
    _E.UNSUPPORTED_FOR_MESSAGE_FORMAT: exceptions.UnsupportedVersion,
    _E.UNSUPPORTED_COMPRESSION_TYPE: exceptions.UnsupportedVersion,
    _E.INVALID_TOPIC_EXCEPTION: exceptions.InvalidTopic,
    _E.INVALID_REQUEST: exceptions.InvalidRequest,
}

BY_REQUEST: dict[tuple[str, ErrorCode], type[ClientError]] = {
    # A partition cannot tell a timeout from a newer owner: the abort that follows asks the coordinator, which can.
    ("Produce", _E.INVALID_PRODUCER_EPOCH): exceptions.InvalidProducerEpoch,
    ("Produce", _E.INVALID_TXN_STATE): exceptions.InvalidTxnState,
    ("TxnOffsetCommit", _E.INVALID_PRODUCER_EPOCH): exceptions.InvalidProducerEpoch,
    ("TxnOffsetCommit", _E.INVALID_TXN_STATE): exceptions.InvalidTxnState,
    ("TxnOffsetCommit", _E.FENCED_INSTANCE_ID): GroupFenced,
    # A commit between two generations: the member may have stayed, and kept its partitions.
    ("OffsetCommit", _E.REBALANCE_IN_PROGRESS): RebalanceInProgress,
    ("OffsetCommit", _E.STALE_MEMBER_EPOCH): RebalanceInProgress,
    ("OffsetCommit", _E.ILLEGAL_GENERATION): CommitFailed,
    ("OffsetCommit", _E.UNKNOWN_MEMBER_ID): CommitFailed,
    ("OffsetCommit", _E.FENCED_MEMBER_EPOCH): CommitFailed,
    ("OffsetCommit", _E.GROUP_ID_NOT_FOUND): CommitFailed,
    # The coordinator has no such transaction open: it timed out, and the abort that follows gives the next epoch.
    ("EndTxn", _E.INVALID_TXN_STATE): exceptions.InvalidTxnState,
}

FIND_COORDINATOR_AGAIN = frozenset({_E.COORDINATOR_NOT_AVAILABLE, _E.NOT_COORDINATOR})
REFRESH_METADATA = frozenset(
    {
        _E.UNKNOWN_TOPIC_OR_PARTITION,
        _E.UNKNOWN_TOPIC_ID,
        _E.INCONSISTENT_TOPIC_ID,
        _E.LEADER_NOT_AVAILABLE,
        _E.NOT_LEADER_OR_FOLLOWER,
        _E.FENCED_LEADER_EPOCH,
        _E.UNKNOWN_LEADER_EPOCH,
        _E.REPLICA_NOT_AVAILABLE,
        _E.LISTENER_NOT_FOUND,
        _E.KAFKA_STORAGE_ERROR,
        _E.NETWORK_EXCEPTION,
    }
)


def known_code(error_code: int) -> ErrorCode:
    """The code by name; one that is newer than this table is UNKNOWN_SERVER_ERROR."""
    try:
        return ErrorCode(error_code)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR


def meaning_of(error_code: int, api_name: str = "") -> Meaning:
    code = known_code(error_code)
    exception_class = BY_REQUEST.get((api_name, code)) or EXCEPTIONS.get(code) or FatalError
    category = next(category for category in Category if issubclass(exception_class, category.value))
    return Meaning(category, exception_class)


def category_of(error_code: int, api_name: str = "") -> Category:
    return meaning_of(error_code, api_name).category


def error_of(error_code: int, api_name: str, *, what: str = "", explanation: str | None = None) -> ClientError:
    """The exception for a refusal: `what` was refused, and `explanation` is the broker's own, if it gave one."""
    meaning = meaning_of(error_code, api_name)
    name = known_code(error_code).name
    if name == "UNKNOWN_SERVER_ERROR" and error_code != ErrorCode.UNKNOWN_SERVER_ERROR:
        name = f"error code {error_code}"
    answer = BrokerAnswer(what, api_name, name, explanation or (meaning.exception_class.__doc__ or "").strip())
    return meaning.exception_class(str(answer), error_code=known_code(error_code), answer=answer)
