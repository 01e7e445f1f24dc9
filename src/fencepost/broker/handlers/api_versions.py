"""ApiVersions (18), versions 0 to 4: what this broker can do, computed from the handlers that there are.

v3 features: `transaction.version` tells clients which transaction flow to use. Supported features with minimum 0 are
left out below v4: older clients cannot read them (KIP-1022). Versions that Kafka calls unstable are listed where they
are of use: InitProducerId v6 with `transaction.two.phase.commit.enable`.
"""

from fencepost.broker.call import Call, Outcome, Reply
from fencepost.broker.core import BrokerCore
from fencepost.broker.dispatch import HANDLED_KEYS
from fencepost.broker.features import SUPPORTED_LEVELS, finalized_levels
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
