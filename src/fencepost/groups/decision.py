"""What a decision of the group coordinator asks for: records to append, requests to answer, memory to take over.

The caller appends `records` to the group's partition of `__consumer_offsets` and applies each (`apply_record`),
then takes over the volatile part (`apply_memory`), then answers: a reply may leave when the records are synced. If
the append fails, the decision is dropped and nothing has happened. A request that is not among `replies` is parked:
a later decision, about another member or a timer, will name it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from fencepost.records.record import Record
from fencepost.types import Now
from fencepost.wire.message import Message

if TYPE_CHECKING:
    from fencepost.groups.classic_group import ClassicGroup
    from fencepost.groups.consumer_group import ConsumerTimers


class Call(Protocol):
    """The broker's `Call`, as far as the rules read it. A parked request is remembered by it."""

    @property
    def request(self) -> Any: ...

    @property
    def api_version(self) -> int: ...

    @property
    def client_id(self) -> str: ...

    @property
    def client_host(self) -> str: ...

    @property
    def now(self) -> Now: ...


class Reply(NamedTuple):
    call: Call
    message: Message


@dataclass(frozen=True, slots=True)
class Decision:
    """A record without a value removes what its key names. Timestamps of records are the caller's to set."""

    group_id: str
    records: tuple[Record, ...] = ()
    replies: tuple[Reply, ...] = ()
    memory: "ClassicGroup | ConsumerTimers | None" = None

    def reply_to(self, call: Call) -> Message | None:
        """The answer to one request, or None while it is parked."""
        return next((message for answered, message in self.replies if answered is call), None)


def answer(call: Call, message: Message) -> Decision:
    """A decision that changes nothing."""
    return Decision(call.request.group_id, replies=(Reply(call, message),))
