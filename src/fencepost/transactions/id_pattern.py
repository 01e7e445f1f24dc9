"""The TransactionalIdPattern of ListTransactions (KIP-1152): a regular expression that must match the whole id.

Kafka uses RE2, which runs in linear time. Python's `re` can take for ever on a hostile pattern, so what makes it
explode is refused with 128: long patterns, repeated groups, look-around and back-references (RE2 has neither of the
last two), and more than a few open-ended repetitions.
"""

import re
from dataclasses import dataclass

from fencepost.errors import ErrorCode, Refusal

PATTERN_CHARACTERS_MAX = 256
OPEN_REPETITIONS_MAX = 4

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?:|\(\?|\{\d*,?\d*\}|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class IdPattern:
    compiled: re.Pattern[str]

    def matches(self, transactional_id: str) -> bool:
        return self.compiled.fullmatch(transactional_id) is not None


def parse_id_pattern(pattern: str | None) -> IdPattern | Refusal | None:
    """None and the empty pattern filter nothing."""
    if not pattern:
        return None
    if (trouble := _trouble_with(pattern)) is not None:
        return Refusal(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{pattern[:PATTERN_CHARACTERS_MAX]!r} {trouble}")
    try:
        return IdPattern(re.compile(pattern))
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
