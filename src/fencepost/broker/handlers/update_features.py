"""UpdateFeatures (57), versions 0 to 2: feature levels are settings of this broker, so no other level can be set.

Asking for the level that is in force succeeds and changes nothing. As in Kafka one bad feature fails the request, in
every version.
"""

from fencepost.broker.call import Call, Outcome
from fencepost.broker.core import BrokerCore
from fencepost.broker.features import FINALIZED_NAMES, finalized_levels
from fencepost.errors import ErrorCode, Refusal
from fencepost.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpdateFeaturesResponse


def handle(core: BrokerCore, call: Call) -> Outcome:
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
