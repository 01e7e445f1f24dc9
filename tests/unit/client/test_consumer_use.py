"""One thread at a time, in one process."""

import threading

import pytest

from fencepost.client.consumer.consumer import OneUser, one_user
from fencepost.client.exceptions import IllegalState


class Thing:
    def __init__(self) -> None:
        self._use = OneUser()

    @one_user
    def outer(self) -> str:
        return self.inner()

    @one_user
    def inner(self) -> str:
        return "done"

    @one_user
    def fail(self) -> None:
        raise ZeroDivisionError


def test_a_call_may_call_again_on_the_same_thread() -> None:
    assert Thing().outer() == "done"


def test_another_thread_is_refused_while_one_is_inside_and_welcome_afterwards() -> None:
    thing = Thing()
    thing._use.enter()
    outcomes: list[object] = []

    def call() -> None:
        try:
            outcomes.append(thing.outer())
        except IllegalState as problem:
            outcomes.append(problem)

    for _ in range(2):
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        if len(outcomes) == 1:
            thing._use.leave()
    assert isinstance(outcomes[0], IllegalState)
    assert outcomes[1] == "done"


def test_an_exception_does_not_leave_the_door_locked() -> None:
    thing = Thing()
    with pytest.raises(ZeroDivisionError):
        thing.fail()
    thread = threading.Thread(target=thing.outer)
    thread.start()
    thread.join()
    assert thing._use._depth == 0


def test_what_is_closed_says_so() -> None:
    thing = Thing()
    thing._use.is_closed = True
    with pytest.raises(IllegalState, match="closed"):
        thing.outer()
