"""What a decision of the group coordinator asks for: records to append, requests to answer, memory to take over.

The caller appends `records` to the group's partition of `__consumer_offsets` and applies each (`apply_record`),
then takes over the volatile part (`apply_memory`), then answers: a reply may leave when the records are synced. If
the append fails, the decision is dropped and nothing has happened. A request whose token is not among `replies` is
parked: a later decision, about another member or a timer, will name it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from fencepost.groups.classic_group import Token

if TYPE_CHECKING:
    from fencepost.groups.classic_group import ClassicGroup
    from fencepost.groups.consumer_group import ConsumerTimers


class Record(NamedTuple):
    """A record for `__consumer_offsets`. A value of None removes what the key names."""

    key: bytes
    value: bytes | None


class Reply(NamedTuple):
    token: Token
    message: object


@dataclass(frozen=True, slots=True)
class Decision:
    group_id: str
    records: tuple[Record, ...] = ()
    replies: tuple[Reply, ...] = ()
    memory: "ClassicGroup | ConsumerTimers | None" = None

    def reply_to(self, token: Token) -> object | None:
        """The answer to one request, or None while it is parked."""
        return next((message for answered, message in self.replies if answered is token), None)


def answer(group_id: str, token: Token, message: object) -> Decision:
    """A decision that changes nothing."""
    return Decision(group_id, replies=(Reply(token, message),))
