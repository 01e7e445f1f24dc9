"""What a broker said it speaks, met with what we speak; and the features that its cluster has finalized (KIP-584)."""

from fencepost.client.exceptions import UnsupportedVersion
from fencepost.errors import invariant
from fencepost.wire.api import API_TABLE, LAST_STABLE
from fencepost.wire.message import Message
from fencepost.wire.messages.api_versions import ApiVersionsResponse

TRANSACTION_VERSION = "transaction.version"
GROUP_VERSION = "group.version"

API_KEYS = {f"{api.name}Request": key for key, api in API_TABLE.items()}


def api_key_of(request: Message) -> int:
    key = API_KEYS.get(type(request).__name__)
    invariant(key is not None, f"{type(request).__name__} is a request of the API table")
    assert key is not None
    return key


class ApiVersions:
    """Ranges by API key, and feature levels by name."""

    __slots__ = ("address", "features", "features_epoch", "ranges")

    def __init__(self, response: ApiVersionsResponse, address: str) -> None:
        self.address = address
        self.ranges = {row.api_key: (row.min_version, row.max_version) for row in response.api_keys}
        self.features = {row.name: row.max_version_level for row in response.finalized_features}
        self.features_epoch = response.finalized_features_epoch

    def highest_common(self, api_key: int, *, at_most: int | None = None) -> int | None:
        """The highest version that both sides speak, or None."""
        api = API_TABLE[api_key]
        low, high = self.ranges.get(api_key, (0, -1))
        ours = LAST_STABLE.get(api_key, api.max_version)
        version = min(high, ours if at_most is None else min(ours, at_most))
        return version if version >= max(low, api.min_version) else None

    def choose(self, api_key: int, *, at_most: int | None = None, at_least: int = 0) -> int:
        version = self.highest_common(api_key, at_most=at_most)
        if version is None or version < at_least:
            api = API_TABLE[api_key]
            theirs = self.ranges.get(api_key)
            said = f"versions {theirs[0]} to {theirs[1]}" if theirs else "no version"
            low, high = max(api.min_version, at_least), api.max_version if at_most is None else at_most
            raise UnsupportedVersion(f"{self.address} has {said} of {api.name}; this call needs one of {low} to {high}")
        return version

    def has(self, api_key: int, version: int = 0) -> bool:
        common = self.highest_common(api_key)
        return common is not None and common >= version
