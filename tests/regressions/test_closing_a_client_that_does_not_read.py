"""A connection that is closed does not stay half open because its client never reads what was sent to it."""

import time

import pytest

from fencepost.server import broker_server
from fencepost.server.embedded import EmbeddedBroker
from tests.server.raw_client import RawClient
from tests.server.test_connections import FETCH, PRODUCE, create_topic, fetch_request, produce_request

DEADLINE_S = 15.0


def test_an_idle_client_that_does_not_read_its_answers_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_server, "CONNECTION_SWEEP_INTERVAL_S", 0.1)
    settings = {"connections.max.idle.ms": "300", "request.read.timeout.ms": "300"}
    with EmbeddedBroker(settings=settings) as broker:
        with RawClient(broker.bootstrap_servers) as writer:
            create_topic(writer)
            for _ in range(10):
                writer.ask(PRODUCE, 9, produce_request(bytes(1_000_000)))
        deaf = RawClient(broker.bootstrap_servers)
        for _ in range(60):
            deaf.send(FETCH, 11, fetch_request(offset=0, max_wait_ms=0))
        until = time.monotonic() + DEADLINE_S
        while broker._server.connections and time.monotonic() < until:  # type: ignore[union-attr]
            time.sleep(0.05)
        assert not broker._server.connections  # type: ignore[union-attr]
        deaf.socket.close()
