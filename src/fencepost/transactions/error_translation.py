"""Which error code a request of which version may see: the coordinator's answers, translated, as data.

The coordinator speaks the newest dialect. Handlers translate for the version that they answer; Produce and
TxnOffsetCommit, which ask the coordinator about their partition, have tables of their own.
"""

from fencepost.errors import ErrorCode

PRODUCER_FENCED_SINCE_VERSION = {
    "InitProducerId": 4,
    "AddPartitionsToTxn": 2,
    "AddOffsetsToTxn": 2,
    "EndTxn": 2,
}
"""Older versions are told INVALID_PRODUCER_EPOCH instead (KIP-588)."""


def coordinator_error(api_name: str, api_version: int, error_code: ErrorCode) -> ErrorCode:
    """For the four requests of the coordinator itself."""
    if error_code is ErrorCode.PRODUCER_FENCED and api_version < PRODUCER_FENCED_SINCE_VERSION[api_name]:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return error_code


IMPLICIT_ADD_SINCE_PRODUCE_VERSION = 12
IMPLICIT_ADD_SINCE_TXN_OFFSET_COMMIT_VERSION = 5

PRODUCE_ERRORS = {
    ErrorCode.PRODUCER_FENCED: ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_COORDINATOR: ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.CONCURRENT_TRANSACTIONS: ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: ErrorCode.INVALID_TXN_STATE,
}
"""Clients of Produce know NOT_ENOUGH_REPLICAS as retriable; CONCURRENT_TRANSACTIONS only from v12."""

TXN_OFFSET_COMMIT_ERRORS = {
    ErrorCode.PRODUCER_FENCED: ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}

APPEND_ERRORS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}
"""What a failed append to `__transaction_state` is called in the coordinator's answers."""

TRANSACTION_ABORTABLE_SINCE_PRODUCE_VERSION = 11
TRANSACTION_ABORTABLE_SINCE_TXN_OFFSET_COMMIT_VERSION = 4
LOAD_IN_PROGRESS_SINCE_TXN_OFFSET_COMMIT_VERSION = 2


def produce_error(api_version: int, error_code: ErrorCode) -> ErrorCode:
    """What a Produce says when the coordinator answered its add or verify with `error_code`."""
    if error_code is ErrorCode.TRANSACTION_ABORTABLE and api_version < TRANSACTION_ABORTABLE_SINCE_PRODUCE_VERSION:
        return ErrorCode.INVALID_TXN_STATE
    if error_code is ErrorCode.CONCURRENT_TRANSACTIONS and api_version >= IMPLICIT_ADD_SINCE_PRODUCE_VERSION:
        return error_code
    return PRODUCE_ERRORS.get(error_code, error_code)


def txn_offset_commit_error(api_version: int, error_code: ErrorCode) -> ErrorCode:
    """What a TxnOffsetCommit says when the coordinator or the append answered with `error_code`."""
    translated = TXN_OFFSET_COMMIT_ERRORS.get(error_code, error_code)
    is_abortable_known = api_version >= TRANSACTION_ABORTABLE_SINCE_TXN_OFFSET_COMMIT_VERSION
    if translated is ErrorCode.TRANSACTION_ABORTABLE and not is_abortable_known:
        return ErrorCode.INVALID_TXN_STATE
    is_loading_known = api_version >= LOAD_IN_PROGRESS_SINCE_TXN_OFFSET_COMMIT_VERSION
    if translated is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and not is_loading_known:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return translated
