"""ApiVersions (18), versions 0 to 4: what this broker can do, computed from the handlers that there are.

v3 features: `transaction.version` tells clients which transaction flow to use. Supported features with minimum 0 are
left out below v4: older clients cannot read them (KIP-1022).
"""

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.broker.core import BrokerCore
from fencepost.broker.dispatch import HANDLED_KEYS
from fencepost.wire.api import advertised
from fencepost.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

FEATURES_WITH_MINIMUM_0_SINCE_VERSION = 4
FEATURES_EPOCH = 0


def handle(core: BrokerCore, call: Call) -> Outcome:
    level = core.settings.transaction_version
    supported = [SupportedFeatureKey("transaction.version", 0, 2), SupportedFeatureKey("group.version", 0, 1)]
    finalized = [
        FinalizedFeatureKey(name="transaction.version", max_version_level=level, min_version_level=level),
        FinalizedFeatureKey(name="group.version", max_version_level=1, min_version_level=1),
    ]
    return Reply(
        ApiVersionsResponse(
            api_keys=[ApiVersion(*row) for row in advertised(HANDLED_KEYS)],
            supported_features=supported if call.api_version >= FEATURES_WITH_MINIMUM_0_SINCE_VERSION else [],
            finalized_features_epoch=FEATURES_EPOCH,
            finalized_features=finalized,
        )
    )
