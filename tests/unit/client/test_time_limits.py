"""One retry for all calls: when it goes on, and when it gives up."""

import pytest

from fencepost.client import time_limits
from fencepost.client.exceptions import ClientError, RetriableError, Timeout
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Deadline, retry

SETTINGS = ClientSettings(retry_backoff_ms=100, retry_backoff_max_ms=1000)


class Clock:
    """Stands still, but for sleeping."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time_limits.time, "sleep", clock.sleep)
    return clock


def test_it_tries_again_until_the_call_succeeds(clock: Clock) -> None:
    answers: list[ClientError | str] = [RetriableError("not yet"), RetriableError("not yet"), "here"]

    def call() -> str:
        answer = answers.pop(0)
        if isinstance(answer, ClientError):
            raise answer
        return answer

    assert retry(call, SETTINGS, Deadline(1.0, clock), "an answer") == "here"
    assert 0.24 <= clock.now_s <= 0.36


def test_what_no_retry_mends_is_raised_at_once(clock: Clock) -> None:
    def call() -> None:
        raise ClientError("no")

    with pytest.raises(ClientError, match=r"^no$"):
        retry(call, SETTINGS, Deadline(1.0, clock), "an answer")
    assert clock.now_s == 0


@pytest.mark.parametrize("leaves_time", [True, False])
def test_the_last_try_of_a_request_that_changes_something_has_time_for_its_answer(
    clock: Clock, leaves_time: bool
) -> None:
    deadline = Deadline(1.0, clock)
    remaining_s: list[float] = []

    def call() -> None:
        remaining_s.append(deadline.remaining_s)
        raise RetriableError("not yet")

    with pytest.raises(Timeout, match=r"^an answer did not come in time; the last try said: not yet$"):
        retry(call, SETTINGS, deadline, "an answer", leaves_time=leaves_time)
    assert (remaining_s[-1] > 0) is leaves_time
    assert clock.now_s <= 1.0
