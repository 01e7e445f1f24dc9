"""ApiVersions (18), versions 0 to 4: what this broker can do, computed from the handlers that there are.

v3 features: `transaction.version` tells clients which transaction flow to use. Supported features with minimum 0 are
left out below v4: older clients cannot read them (KIP-1022). Versions that Kafka calls unstable are listed where they
are of use: InitProducerId v6 with `transaction.two.phase.commit.enable`.
"""

from typing import NamedTuple

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.broker.core import BrokerCore
from fencepost.broker.dispatch import HANDLED_KEYS
from fencepost.errors import ErrorCode, Refusal
from fencepost.settings import BrokerSettings
from fencepost.wire.api import advertised
from fencepost.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from fencepost.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpdateFeaturesResponse

# Features (KIP-584): which levels this broker could have, and which it was started with.


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


FEATURES_WITH_MINIMUM_0_SINCE_VERSION = 4
FEATURES_EPOCH = 0


def api_versions(core: BrokerCore, call: Call) -> Outcome:
    with_unstable = core.settings.transaction_two_phase_commit_enable
    has_minimum_0 = call.api_version >= FEATURES_WITH_MINIMUM_0_SINCE_VERSION
    return Reply(
        ApiVersionsResponse(
            api_keys=[ApiVersion(*row) for row in advertised(HANDLED_KEYS, with_unstable=with_unstable)],
            supported_features=[SupportedFeatureKey(*levels) for levels in SUPPORTED_LEVELS if has_minimum_0],
            finalized_features_epoch=FEATURES_EPOCH,
            finalized_features=[
                FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
                for name, level in finalized_levels(core.settings).items()
            ],
        )
    )


# UpdateFeatures (57), versions 0 to 2: feature levels are settings of this broker, so no other level can be set.
#
# Asking for the level that is in force succeeds and changes nothing. As in Kafka one bad feature fails the request, in
# every version.


def update_features(core: BrokerCore, call: Call) -> Outcome:
    request: UpdateFeaturesRequest = call.request
    for update in request.feature_updates:
        if (refusal := _refuse(core, update)) is not None:
            return core.reply(UpdateFeaturesResponse(error_code=refusal.error_code, error_message=refusal.message))
    return core.reply(UpdateFeaturesResponse(error_message=None))


def _refuse(core: BrokerCore, update: FeatureUpdateKey) -> Refusal | None:
    levels = finalized_levels(core.settings)
    if update.feature not in levels:
        message = f"feature '{update.feature}' does not exist here: expected one of {', '.join(FINALIZED_NAMES)}"
        return Refusal(ErrorCode.INVALID_UPDATE_VERSION, message)
    if update.max_version_level != levels[update.feature]:
        message = (
            f"feature '{update.feature}' is at level {levels[update.feature]}, as this broker was started with: "
            f"level {update.max_version_level} needs a restart with another setting"
        )
        return Refusal(ErrorCode.INVALID_UPDATE_VERSION, message)
    return None
