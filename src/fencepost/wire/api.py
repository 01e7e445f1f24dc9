"""The one table of APIs: which keys and versions this room can read and write, and what ApiVersions says of them.

Which APIs are *served* is the broker's to say: it passes the keys that it has handlers for to `advertised`. The message
classes are imported when an API is first used.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import NamedTuple

from fencepost.errors import InvariantBroken
from fencepost.wire.message import Message
from fencepost.wire.messages.table import ROWS

PRODUCE = 0
FETCH = 1
API_VERSIONS = 18
INIT_PRODUCER_ID = 22

LOWEST_ADVERTISED = {PRODUCE: 0}
"""librdkafka takes a broker that does not list Produce 0 for one without Produce. Versions 0 to 2 are still refused."""

LAST_STABLE = {INIT_PRODUCER_ID: 5}
"""Version 6 (KIP-939) is unstable: a broker advertises it only when asked to."""


@dataclass(frozen=True)
class Api:
    key: int
    module: str
    name: str
    min_version: int
    max_version: int
    flexible_from: int

    def has_version(self, version: int) -> bool:
        return self.min_version <= version <= self.max_version

    def request_header_version(self, version: int) -> int:
        return 2 if version >= self.flexible_from else 1

    def response_header_version(self, version: int) -> int:
        """ApiVersions answers with header 0 always: the client cannot know yet what the broker speaks."""
        return 1 if version >= self.flexible_from and self.key != API_VERSIONS else 0

    @cached_property
    def request_class(self) -> type[Message]:
        return _message_class(self.module, f"{self.name}Request")

    @cached_property
    def response_class(self) -> type[Message]:
        return _message_class(self.module, f"{self.name}Response")


class AdvertisedApi(NamedTuple):
    """A row of the answer to ApiVersions."""

    api_key: int
    min_version: int
    max_version: int


def _message_class(module: str, name: str) -> type[Message]:
    found = getattr(import_module(f"fencepost.wire.messages.{module}"), name)
    if not (isinstance(found, type) and issubclass(found, Message)):
        raise InvariantBroken(f"{module}.{name} is a message class")
    return found


API_TABLE: dict[int, Api] = {row[0]: Api(*row) for row in ROWS}


def advertised(handled_keys: Iterable[int], *, with_unstable: bool = False) -> list[AdvertisedApi]:
    """What ApiVersions lists for a broker that handles these APIs, in the order of their keys."""
    rows = []
    for key in sorted(handled_keys):
        api = API_TABLE[key]
        last = api.max_version if with_unstable else LAST_STABLE.get(key, api.max_version)
        rows.append(AdvertisedApi(key, LOWEST_ADVERTISED.get(key, api.min_version), last))
    return rows
