"""One request on its way through the broker, and what can become of it.

A handler returns an `Outcome`: a `Reply`, which leaves once the journal is synced up to its position; `PARKED`, when
the reply comes later through the core's outbox (long polls, joins); `NO_REPLY` (acks=0); or `CloseConnection`.
The `Call` itself is the token that parked work is remembered by.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from fencepost.errors import CloseConnection
from fencepost.types import Now

SYNCED_ALREADY = -1


@dataclass(frozen=True, slots=True)
class Peer:
    """Who is at the other end of a connection. Ids only grow, so an older connection has a smaller one."""

    connection_id: int
    host: str
    port: int

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(slots=True, eq=False)
class Call:
    """A request with everything a handler may want to know of it. Compared by identity."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str
    peer: Peer
    request: Any
    now: Now
    reply: "Reply | None" = None

    @property
    def client_host(self) -> str:
        return self.peer.host


class Reply(NamedTuple):
    """`message` may leave once the journal is synced up to and including `position`."""

    message: Any
    position: int = SYNCED_ALREADY


class Silence(Enum):
    PARKED = "the reply comes later"
    NO_REPLY = "the client wants none"


PARKED = Silence.PARKED
NO_REPLY = Silence.NO_REPLY

Outcome = Reply | CloseConnection | Silence
