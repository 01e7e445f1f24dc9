"""The rule that one thread uses a consumer, and only in the process that made it."""

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from fencepost.client.exceptions import IllegalState

CallT = TypeVar("CallT", bound=Callable[..., Any])


class OneUser:
    """Who is inside at this moment. Callbacks may call the consumer again: they are on the same thread."""

    __slots__ = ("_depth", "_process_id", "_thread_id", "is_closed")

    def __init__(self) -> None:
        self._process_id = os.getpid()
        self._thread_id: int | None = None
        self._depth = 0
        self.is_closed = False

    @property
    def is_other_process(self) -> bool:
        return os.getpid() != self._process_id

    def enter(self) -> None:
        if self.is_closed:
            raise IllegalState("the consumer is closed")
        if self.is_other_process:
            raise IllegalState(
                "the consumer was made before a fork: make one in this process, sockets cannot be shared"
            )
        thread_id = threading.get_ident()
        if self._thread_id is not None and self._thread_id != thread_id:
            raise IllegalState("another thread is using this consumer: one thread at a time, and `wakeup` from others")
        self._thread_id = thread_id
        self._depth += 1

    def leave(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._thread_id = None


def one_user(call: CallT) -> CallT:
    """For methods of something that has a `_use: OneUser`."""

    @functools.wraps(call)
    def checked(self: Any, *arguments: Any, **named: Any) -> Any:
        self._use.enter()
        try:
            return call(self, *arguments, **named)
        finally:
            self._use.leave()

    return cast(CallT, checked)
