"""DescribeTransactions and ListTransactions. Questions only; rights are the handler's to check.

The TransactionalIdPattern of ListTransactions (KIP-1152) is a regular expression that must match the whole id. Kafka
uses RE2, which runs in linear time. Python's `re` can take for ever on a hostile pattern, so what makes it explode is
refused with 128: long patterns, repeated groups, look-around and back-references (RE2 has neither of the last two), and
more than a few open-ended repetitions.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from fencepost.errors import ErrorCode, Refusal
from fencepost.transactions.state import CoordinatorState
from fencepost.transactions.states import NEVER_STORED, STATE_BY_KAFKA_NAME
from fencepost.transactions.transaction import Transaction

NO_DURATION_FILTER = -1
PATTERN_CHARACTERS_MAX = 256
OPEN_REPETITIONS_MAX = 4

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?:|\(\?|\{\d*,?\d*\}|.", re.DOTALL)


def parse_id_pattern(pattern: str | None) -> re.Pattern[str] | Refusal | None:
    """None and the empty pattern filter nothing."""
    if not pattern:
        return None
    if (trouble := _trouble_with(pattern)) is not None:
        return Refusal(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{pattern[:PATTERN_CHARACTERS_MAX]!r} {trouble}")
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as invalid:
        return Refusal(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{pattern!r} is not a regular expression: {invalid}")


def _trouble_with(pattern: str) -> str | None:
    if len(pattern) > PATTERN_CHARACTERS_MAX:
        return f"is longer than {PATTERN_CHARACTERS_MAX} characters"
    tokens = _TOKEN.findall(pattern)
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        if token == ")" and (following in ("*", "+") or following.startswith("{")):
            return "repeats a group, which is not supported"
        if token[0] == "\\" and token[1:].isdigit():
            return "has a back-reference, which is not supported"
        if token == "(?":
            return "has a group of the (?...) kind other than (?:...), which is not supported"
    if sum(token in ("*", "+") or token.startswith("{") for token in tokens) > OPEN_REPETITIONS_MAX:
        return f"has more than {OPEN_REPETITIONS_MAX} repetitions"
    return None


class TransactionListing(NamedTuple):
    transactions: list[Transaction]
    unknown_state_filters: list[str]


def describe_transaction(state: CoordinatorState, transactional_id: str) -> Transaction | Refusal:
    if not transactional_id:
        return Refusal(ErrorCode.INVALID_REQUEST, "the transactional id is empty")
    if (transaction := state.transactions.get(transactional_id)) is None:
        return Refusal(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, f"transactional id {transactional_id!r} is not known here")
    return transaction


def list_transactions(
    state: CoordinatorState,
    *,
    state_filters: Collection[str] = (),
    producer_id_filters: Collection[int] = (),
    duration_filter_ms: int = NO_DURATION_FILTER,
    transactional_id_pattern: str | None = None,
    now_ms: int,
) -> TransactionListing | Refusal:
    """Ids that pass every filter, in order. State names that do not exist match nothing and are named in the answer.

    A duration filter alone also lists idle ids: their start is -1, as in Kafka. Combine it with a state filter.
    """
    pattern = parse_id_pattern(transactional_id_pattern)
    if isinstance(pattern, Refusal):
        return pattern
    wanted_states = {STATE_BY_KAFKA_NAME[name] for name in state_filters if name in STATE_BY_KAFKA_NAME}
    producer_ids = set(producer_id_filters)

    def passes(transaction: Transaction) -> bool:
        if state_filters and transaction.state not in wanted_states - NEVER_STORED:
            return False
        if producer_ids and transaction.producer_id not in producer_ids:
            return False
        if 0 <= duration_filter_ms >= now_ms - transaction.start_timestamp_ms:
            return False
        return pattern is None or pattern.fullmatch(transaction.transactional_id) is not None

    return TransactionListing(
        transactions=[transaction for _, transaction in sorted(state.transactions.items()) if passes(transaction)],
        unknown_state_filters=[name for name in state_filters if name not in STATE_BY_KAFKA_NAME],
    )
