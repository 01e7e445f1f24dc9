"""One table: what each error code means to a client, and where that depends on the request.

`category_of` and `error_of` are the only places that read codes. A code that is not listed is FATAL. Produce turns
INVALID_TXN_STATE and INVALID_PRODUCER_EPOCH into reasons to abort (KIP-588); from a coordinator they are the end.
"""

from enum import Enum, auto
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
    RETRIABLE = auto()
    ABORTABLE = auto()
    FENCED = auto()
    FATAL = auto()


class Meaning(NamedTuple):
    category: Category
    exception_class: type[ClientError]


_R, _A, _N, _F = Category.RETRIABLE, Category.ABORTABLE, Category.FENCED, Category.FATAL
_E = ErrorCode

MEANINGS: dict[ErrorCode, Meaning] = {
    # The broker, or the way to it, is not ready.
    _E.CORRUPT_MESSAGE: Meaning(_R, RetriableBrokerError),
    _E.UNKNOWN_TOPIC_OR_PARTITION: Meaning(_R, exceptions.UnknownTopicOrPartition),
    _E.UNKNOWN_TOPIC_ID: Meaning(_R, exceptions.UnknownTopicOrPartition),
    _E.INCONSISTENT_TOPIC_ID: Meaning(_R, exceptions.UnknownTopicOrPartition),
    _E.LEADER_NOT_AVAILABLE: Meaning(_R, exceptions.NotLeaderOrFollower),
    _E.NOT_LEADER_OR_FOLLOWER: Meaning(_R, exceptions.NotLeaderOrFollower),
    _E.FENCED_LEADER_EPOCH: Meaning(_R, exceptions.NotLeaderOrFollower),
    _E.UNKNOWN_LEADER_EPOCH: Meaning(_R, exceptions.NotLeaderOrFollower),
    _E.REPLICA_NOT_AVAILABLE: Meaning(_R, exceptions.NotLeaderOrFollower),
    _E.LISTENER_NOT_FOUND: Meaning(_R, exceptions.NotLeaderOrFollower),
    _E.REQUEST_TIMED_OUT: Meaning(_R, exceptions.Timeout),
    _E.NETWORK_EXCEPTION: Meaning(_R, exceptions.Disconnected),
    _E.BROKER_NOT_AVAILABLE: Meaning(_R, RetriableBrokerError),
    _E.NOT_CONTROLLER: Meaning(_R, RetriableBrokerError),
    _E.NOT_ENOUGH_REPLICAS: Meaning(_R, RetriableBrokerError),
    _E.NOT_ENOUGH_REPLICAS_AFTER_APPEND: Meaning(_R, RetriableBrokerError),
    _E.KAFKA_STORAGE_ERROR: Meaning(_R, RetriableBrokerError),
    _E.OFFSET_NOT_AVAILABLE: Meaning(_R, RetriableBrokerError),
    _E.THROTTLING_QUOTA_EXCEEDED: Meaning(_R, RetriableBrokerError),
    _E.FETCH_SESSION_ID_NOT_FOUND: Meaning(_R, RetriableBrokerError),
    _E.INVALID_FETCH_SESSION_EPOCH: Meaning(_R, RetriableBrokerError),
    _E.FETCH_SESSION_TOPIC_ID_ERROR: Meaning(_R, RetriableBrokerError),
    _E.COORDINATOR_LOAD_IN_PROGRESS: Meaning(_R, CoordinatorUnavailable),
    _E.COORDINATOR_NOT_AVAILABLE: Meaning(_R, CoordinatorUnavailable),
    _E.NOT_COORDINATOR: Meaning(_R, CoordinatorUnavailable),
    _E.CONCURRENT_TRANSACTIONS: Meaning(_R, exceptions.ConcurrentTransactions),
    _E.UNSTABLE_OFFSET_COMMIT: Meaning(_R, exceptions.UnstableOffsetCommit),
    # This piece of work is lost, the client is not.
    _E.MESSAGE_TOO_LARGE: Meaning(_A, exceptions.RecordTooLarge),
    _E.RECORD_LIST_TOO_LARGE: Meaning(_A, exceptions.RecordTooLarge),
    _E.INVALID_RECORD: Meaning(_A, exceptions.InvalidRecord),
    _E.INVALID_TIMESTAMP: Meaning(_A, exceptions.InvalidRecord),
    _E.OUT_OF_ORDER_SEQUENCE_NUMBER: Meaning(_A, exceptions.OutOfOrderSequence),
    _E.DUPLICATE_SEQUENCE_NUMBER: Meaning(_A, exceptions.DuplicateSequence),
    _E.UNKNOWN_PRODUCER_ID: Meaning(_A, exceptions.UnknownProducerId),
    _E.TRANSACTION_ABORTABLE: Meaning(_A, exceptions.TransactionAbortable),
    _E.OPERATION_NOT_ATTEMPTED: Meaning(_A, AbortableError),
    _E.TOPIC_AUTHORIZATION_FAILED: Meaning(_A, exceptions.TopicAuthorization),
    _E.GROUP_AUTHORIZATION_FAILED: Meaning(_A, exceptions.GroupAuthorization),
    _E.OFFSET_METADATA_TOO_LARGE: Meaning(_A, AbortableError),
    _E.ILLEGAL_GENERATION: Meaning(_A, GroupFenced),
    _E.UNKNOWN_MEMBER_ID: Meaning(_A, GroupFenced),
    _E.REBALANCE_IN_PROGRESS: Meaning(_A, GroupFenced),
    _E.FENCED_MEMBER_EPOCH: Meaning(_A, GroupFenced),
    _E.STALE_MEMBER_EPOCH: Meaning(_A, GroupFenced),
    _E.GROUP_ID_NOT_FOUND: Meaning(_A, GroupFenced),
    # Somebody newer is there.
    _E.PRODUCER_FENCED: Meaning(_N, ProducerFenced),
    _E.INVALID_PRODUCER_EPOCH: Meaning(_N, ProducerFenced),
    _E.FENCED_INSTANCE_ID: Meaning(_N, exceptions.FencedInstanceId),
    # The end.
    _E.UNKNOWN_SERVER_ERROR: Meaning(_F, exceptions.UnknownServerError),
    _E.INVALID_TXN_STATE: Meaning(_F, FatalError),
    _E.INVALID_PRODUCER_ID_MAPPING: Meaning(_F, exceptions.InvalidProducerIdMapping),
    _E.INVALID_TRANSACTION_TIMEOUT: Meaning(_F, exceptions.InvalidTransactionTimeout),
    _E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: Meaning(_F, exceptions.TransactionalIdAuthorization),
    _E.CLUSTER_AUTHORIZATION_FAILED: Meaning(_F, exceptions.ClusterAuthorization),
    _E.SASL_AUTHENTICATION_FAILED: Meaning(_F, exceptions.AuthenticationFailed),
    _E.UNSUPPORTED_SASL_MECHANISM: Meaning(_F, exceptions.AuthenticationFailed),
    _E.ILLEGAL_SASL_STATE: Meaning(_F, exceptions.AuthenticationFailed),
    _E.UNSUPPORTED_VERSION: Meaning(_F, exceptions.UnsupportedVersion),
    _E.UNSUPPORTED_FOR_MESSAGE_FORMAT: Meaning(_F, exceptions.UnsupportedVersion),
    _E.UNSUPPORTED_COMPRESSION_TYPE: Meaning(_F, exceptions.UnsupportedVersion),
    _E.INVALID_TOPIC_EXCEPTION: Meaning(_F, exceptions.InvalidTopic),
    _E.INVALID_REQUEST: Meaning(_F, exceptions.InvalidRequest),
}

BY_REQUEST: dict[tuple[str, ErrorCode], Meaning] = {
    # A partition cannot tell a timeout from a newer owner: the abort that follows asks the coordinator, which can.
    ("Produce", _E.INVALID_PRODUCER_EPOCH): Meaning(_A, exceptions.InvalidProducerEpoch),
    ("Produce", _E.INVALID_TXN_STATE): Meaning(_A, exceptions.InvalidTxnState),
    ("TxnOffsetCommit", _E.INVALID_PRODUCER_EPOCH): Meaning(_A, exceptions.InvalidProducerEpoch),
    ("TxnOffsetCommit", _E.INVALID_TXN_STATE): Meaning(_A, exceptions.InvalidTxnState),
    ("TxnOffsetCommit", _E.FENCED_INSTANCE_ID): Meaning(_A, GroupFenced),
    # A commit between two generations: the member may have stayed, and kept its partitions.
    ("OffsetCommit", _E.REBALANCE_IN_PROGRESS): Meaning(_A, RebalanceInProgress),
    ("OffsetCommit", _E.STALE_MEMBER_EPOCH): Meaning(_A, RebalanceInProgress),
    ("OffsetCommit", _E.ILLEGAL_GENERATION): Meaning(_A, CommitFailed),
    ("OffsetCommit", _E.UNKNOWN_MEMBER_ID): Meaning(_A, CommitFailed),
    ("OffsetCommit", _E.FENCED_MEMBER_EPOCH): Meaning(_A, CommitFailed),
    ("OffsetCommit", _E.GROUP_ID_NOT_FOUND): Meaning(_A, CommitFailed),
    # The coordinator has no such transaction open: it timed out, and the abort that follows gives the next epoch.
    ("EndTxn", _E.INVALID_TXN_STATE): Meaning(_A, exceptions.InvalidTxnState),
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
    return BY_REQUEST.get((api_name, code)) or MEANINGS.get(code) or Meaning(Category.FATAL, FatalError)


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
