"""The one thing that the broker reads of the consumers' embedded protocol: which topics a member subscribes to.

Version 0 is a prefix of every later one, so nothing here depends on what future clients add.
"""

from fencepost.errors import WireError
from fencepost.wire.message import VERSION_PREFIX_BYTES
from fencepost.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription

CONSUMER_PROTOCOL_TYPE = "consumer"


def read_subscribed_topics(metadata: bytes) -> frozenset[str] | None:
    """The topics, or None if these bytes are not a subscription."""
    try:
        subscription = ConsumerProtocolSubscription.decode(metadata, 0, VERSION_PREFIX_BYTES)
    except WireError:
        return None
    return frozenset(subscription.topics)
