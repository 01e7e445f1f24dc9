"""Requests that have arrived and wait behind others are not taken for requests that do not arrive."""

import pytest

from fencepost.server import broker_server
from fencepost.server.embedded import EmbeddedBroker
from fencepost.wire.codec import encode_request
from fencepost.wire.messages.api_versions import ApiVersionsRequest
from tests.server.raw_client import RawClient
from tests.server.test_connections import API_VERSIONS, FETCH, create_topic, fetch_request


def test_requests_behind_a_long_poll_are_answered_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_server, "CONNECTION_SWEEP_INTERVAL_S", 0.05)
    settings = {"queued.max.requests": "1", "request.read.timeout.ms": "200"}
    with EmbeddedBroker(settings=settings) as broker, RawClient(broker.bootstrap_servers) as client:
        create_topic(client)
        poll = encode_request(FETCH, 11, 100, "raw", fetch_request(offset=0, max_wait_ms=1_000))
        others = [encode_request(API_VERSIONS, 0, number, "raw", ApiVersionsRequest()) for number in range(3)]
        client.socket.sendall(b"".join(piece for pieces in (poll, *others) for piece in pieces))
        assert client.receive(FETCH, 11)[0] == 100
        assert [client.receive(API_VERSIONS, 0)[0] for _ in range(3)] == [0, 1, 2]
