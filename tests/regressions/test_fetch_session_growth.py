"""A fetch session cannot grow past its limit one request at a time."""

import pytest

from fencepost.broker import fetch_sessions
from fencepost.errors import ErrorCode
from tests.unit.broker.builders import Broker, fetch_request


def test_a_session_that_grows_past_its_limit_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_sessions, "TARGETS_PER_SESSION_MAX", 10)
    broker = Broker()
    broker.create_topic("events")
    session_id = broker.ask(fetch_request("events", 0, session=(0, 0)), 12).session_id
    assert session_id
    errors = []
    for epoch in range(1, 30):
        reply = broker.ask(fetch_request("events", epoch, session=(session_id, epoch)), 12)
        errors.append(reply.error_code)
    assert errors[0] == 0
    assert errors[-1] == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert len(broker.core.fetch_sessions) == 0
