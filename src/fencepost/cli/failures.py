"""Exit codes, and how trouble becomes one of them with a message that says what to do next."""

import sys
from importlib.util import find_spec

import click

from fencepost.cli.output import fitted
from fencepost.client.exceptions import (
    AuthenticationFailed,
    ClientError,
    Disconnected,
    Timeout,
    UnknownTopicOrPartition,
)
from fencepost.errors import FencepostError
from fencepost.settings import InvalidSetting

DONE = 0
FAILED = 1
WRONG_USAGE = 2
UNREACHABLE = 3
FOUND = 4

WHERE_TO_LOOK = (
    "Is it running, and is the address right? `fencepost serve` starts a broker; --bootstrap-servers, or the "
    "environment variable KAFKA_BOOTSTRAP_SERVERS, names another one."
)


class Failure(click.ClickException):
    """One message on standard error, and an exit code."""

    exit_code = FAILED

    def format_message(self) -> str:
        return fitted(super().format_message(), stream=sys.stderr, beside=len("Error: "))


class Unreachable(Failure):
    exit_code = UNREACHABLE


def as_failure(problem: FencepostError) -> click.ClickException:
    if isinstance(problem, InvalidSetting):
        return click.UsageError(str(problem))
    if isinstance(problem, Disconnected):
        return Unreachable(f"{problem}. {WHERE_TO_LOOK}")
    if isinstance(problem, Timeout):
        return Unreachable(in_plain_words(problem))
    if isinstance(problem, AuthenticationFailed):
        return Failure(
            f"{in_plain_words(problem)} Give name and password with -X sasl.username=... -X sasl.password=..."
        )
    if isinstance(problem, UnknownTopicOrPartition):
        return Failure(f"{in_plain_words(problem)} `fencepost topics list` shows the topics that there are.")
    return Failure(in_plain_words(problem))


def in_plain_words(problem: BaseException) -> str:
    """What was refused and why, the code of the protocol at the end; also where the refusal is part of the message."""
    if isinstance(problem, ClientError) and problem.answer is not None:
        what, _, code_name, explanation = problem.answer
        return f"{what}: {explanation} ({code_name})" if what else f"{explanation} ({code_name})"
    if problem.__cause__ is None:
        return str(problem)
    return str(problem).replace(str(problem.__cause__), in_plain_words(problem.__cause__))


# Commands that need more than `pip install fencepost` gives, and say so before anything else.


INSTALL_SPARK = "there is no Spark here: pip install 'fencepost[spark]'"


def has_spark() -> bool:
    return find_spec("pyspark") is not None


def require_spark() -> None:
    if not has_spark():
        raise Failure(INSTALL_SPARK)
