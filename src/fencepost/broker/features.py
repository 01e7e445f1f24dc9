"""Features (KIP-584): which levels this broker could have, and which it was started with."""

from typing import NamedTuple

from fencepost.settings import BrokerSettings

TRANSACTION_VERSION = "transaction.version"
GROUP_VERSION = "group.version"
GROUP_LEVEL = 1
"""Groups of KIP-848 are served."""

FINALIZED_NAMES = (TRANSACTION_VERSION, GROUP_VERSION)


class SupportedLevels(NamedTuple):
    name: str
    lowest: int
    highest: int


SUPPORTED_LEVELS = (SupportedLevels(TRANSACTION_VERSION, 0, 2), SupportedLevels(GROUP_VERSION, 0, GROUP_LEVEL))


def finalized_levels(settings: BrokerSettings) -> dict[str, int]:
    return {TRANSACTION_VERSION: settings.transaction_version, GROUP_VERSION: GROUP_LEVEL}
