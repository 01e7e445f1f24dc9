"""Records that the query should have read and that are gone: an error that says what, or a warning and on.

A hole left by markers, by aborted transactions or by compaction is no loss; those offsets hold nothing for a reader.
"""

import logging
from typing import NamedTuple
from uuid import UUID

from fencepost.errors import FencepostError
from fencepost.types import TopicPartition

logger = logging.getLogger("fencepost.spark")

HOW_TO_GO_ON = (
    "To accept the loss and read on from the first available offset, set the option failOnDataLoss to false for one run"
)


class DataLoss(FencepostError):  # noqa: N818 - it names what happened
    """What the checkpoint says to read next is not there any more."""


class LossPolicy(NamedTuple):
    fail_on_data_loss: bool

    def report(self, loss: str) -> None:
        if self.fail_on_data_loss:
            raise DataLoss(f"{loss}. {HOW_TO_GO_ON}.")
        logger.warning("%s. Reading on from the first available offset, because failOnDataLoss is false.", loss)


def overtaken(where: TopicPartition, *, expected: int, available: int) -> str:
    return (
        f"records of {_named(where)} are gone before they were read: expected offset {expected}, first available "
        f"{available}, {available - expected} offsets are missing. Retention (retention.ms, retention.bytes) or a "
        "deletion of records overtook the query: raise retention, or let the query run more often"
    )


def truncated(where: TopicPartition, *, expected: int, available: int) -> str:
    return (
        f"{_named(where)} ends at offset {available}, but records up to offset {expected} were read from it already: "
        "the partition has lost its end, as after the unclean election of a leader, or another cluster answers here"
    )


def replaced(topic: str, *, expected: UUID, found: UUID) -> str:
    return (
        f"topic {topic} was deleted and created again (its id was {expected}, and is {found}): what was left to read "
        "of the first one is gone, and offsets of the checkpoint mean nothing in the second"
    )


def deleted(topic: str) -> str:
    return f"topic {topic} was deleted: what was left to read of it is gone"


def trimmed(where: TopicPartition, *, available: int) -> str:
    return (
        f"{_named(where)} was added while the query ran, and its first available offset is {available}: "
        f"expected offset 0, {available} offsets are missing"
    )


def _named(where: TopicPartition) -> str:
    return f"topic {where.topic}, partition {where.partition}"
