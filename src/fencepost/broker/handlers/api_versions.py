"""What this broker can do: the APIs that there are handlers for, and features (KIP-584): which levels it could have,
and which it was started with."""

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.broker.core import BrokerCore
from fencepost.broker.dispatch import HANDLED_KEYS
from fencepost.errors import ErrorCode
from fencepost.settings import BrokerSettings
from fencepost.wire.api import advertised
from fencepost.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from fencepost.wire.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse

TRANSACTION_VERSION = "transaction.version"
GROUP_VERSION = "group.version"
GROUP_LEVEL = 1
"""Groups of KIP-848 are served."""

SUPPORTED_LEVELS = ((TRANSACTION_VERSION, 0, 2), (GROUP_VERSION, 0, GROUP_LEVEL))
FEATURES_WITH_MINIMUM_0_SINCE_VERSION = 4
FEATURES_EPOCH = 0


def finalized_levels(settings: BrokerSettings) -> dict[str, int]:
    return {TRANSACTION_VERSION: settings.transaction_version, GROUP_VERSION: GROUP_LEVEL}


def api_versions(core: BrokerCore, call: Call) -> Outcome:
    """ApiVersions (18), versions 0 to 4: what this broker can do, computed from the handlers that there are.

    v3 features: `transaction.version` tells clients which transaction flow to use. Supported features with minimum 0
    are left out below v4: older clients cannot read them (KIP-1022). Versions that Kafka calls unstable are listed
    where they are of use: InitProducerId v6 with `transaction.two.phase.commit.enable`.
    """
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


def update_features(core: BrokerCore, call: Call) -> Outcome:
    """UpdateFeatures (57), versions 0 to 2: feature levels are settings of this broker, so no other level can be set.

    Asking for the level that is in force succeeds and changes nothing. As in Kafka one bad feature fails the request,
    in every version.
    """
    request: UpdateFeaturesRequest = call.request
    levels = finalized_levels(core.settings)
    message = None
    for update in request.feature_updates:
        if update.feature not in levels:
            message = f"feature '{update.feature}' does not exist here: expected one of {', '.join(levels)}"
            break
        if update.max_version_level != levels[update.feature]:
            message = (
                f"feature '{update.feature}' is at level {levels[update.feature]}, as this broker was started with: "
                f"level {update.max_version_level} needs a restart with another setting"
            )
            break
    error_code = ErrorCode.NONE if message is None else ErrorCode.INVALID_UPDATE_VERSION
    return core.reply(UpdateFeaturesResponse(error_code=error_code, error_message=message))
