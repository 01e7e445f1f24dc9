"""Order of replies, brakes, time-outs and limits of real connections."""

import socket
import time

import pytest

from fencepost.errors import ErrorCode
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.server import broker_server
from fencepost.server.broker_server import EAGER_COMMIT_BYTES
from fencepost.server.embedded import EmbeddedBroker
from fencepost.wire.messages.api_versions import ApiVersionsRequest
from fencepost.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from fencepost.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.server.raw_client import RawClient

PRODUCE, FETCH, METADATA, API_VERSIONS = 0, 1, 3, 18
DEADLINE_S = 20.0


def produce_request(value: bytes, topic: str = "records") -> ProduceRequest:
    batch = build_batch([Record(timestamp_ms=1, value=value)])
    data = [TopicProduceData(name=topic, partition_data=[PartitionProduceData(0, batch)])]
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=data)


def fetch_request(*, offset: int, max_wait_ms: int, topic: str = "records", min_bytes: int = 1) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    return FetchRequest(
        max_wait_ms=max_wait_ms, min_bytes=min_bytes, topics=[FetchTopic(topic=topic, partitions=[partition])]
    )


def create_topic(client: RawClient, topic: str = "records") -> None:
    client.ask(METADATA, 9, MetadataRequest(topics=[MetadataRequestTopic(name=topic)]))


def test_replies_come_in_the_order_of_the_requests_even_when_a_later_one_is_ready_first(
    fencepost_broker: EmbeddedBroker,
) -> None:
    with RawClient(fencepost_broker.bootstrap_servers) as client:
        create_topic(client)
        first = client.send(FETCH, 11, fetch_request(offset=0, max_wait_ms=300))
        second = client.send(API_VERSIONS, 0, ApiVersionsRequest())
        third = client.send(PRODUCE, 9, produce_request(b"v"))
        assert client.receive(FETCH, 11)[0] == first
        assert client.receive(API_VERSIONS, 0)[0] == second
        assert client.receive(PRODUCE, 9)[0] == third


def test_a_long_poll_is_answered_as_soon_as_a_record_is_there(fencepost_broker: EmbeddedBroker) -> None:
    servers = fencepost_broker.bootstrap_servers
    with RawClient(servers) as reader, RawClient(servers) as writer:
        create_topic(writer)
        reader.send(FETCH, 11, fetch_request(offset=0, max_wait_ms=60_000))
        began = time.monotonic()
        writer.ask(PRODUCE, 9, produce_request(b"news"))
        _, response = reader.receive(FETCH, 11)
        assert time.monotonic() - began < DEADLINE_S
        assert response.responses[0].partitions[0].high_watermark == 1


def test_a_long_poll_without_news_is_answered_when_its_time_is_up(fencepost_broker: EmbeddedBroker) -> None:
    with RawClient(fencepost_broker.bootstrap_servers) as client:
        create_topic(client)
        began = time.monotonic()
        response = client.ask(FETCH, 11, fetch_request(offset=0, max_wait_ms=200))
        assert 0.15 < time.monotonic() - began < DEADLINE_S
        assert not b"".join(response.responses[0].partitions[0].records or [])


def test_many_pipelined_requests_are_all_answered_in_order() -> None:
    with EmbeddedBroker(settings={"queued.max.requests": "4"}) as broker, RawClient(broker.bootstrap_servers) as client:
        create_topic(client)
        sent = [client.send(PRODUCE, 9, produce_request(f"{number}".encode())) for number in range(200)]
        answered = []
        for expected_offset in range(200):
            correlation_id, response = client.receive(PRODUCE, 9)
            answered.append(correlation_id)
            assert response.responses[0].partition_responses[0].base_offset == expected_offset
        assert answered == sent


def send_fetches_forever(client: RawClient) -> None:
    for _ in range(100_000):
        client.send(FETCH, 11, fetch_request(offset=0, max_wait_ms=0))


def test_a_client_that_does_not_read_is_not_served_without_bound(fencepost_broker: EmbeddedBroker) -> None:
    """It asks for a megabyte again and again and takes nothing: what waits for it in memory must stay bounded."""
    with RawClient(fencepost_broker.bootstrap_servers) as client:
        create_topic(client)
        client.ask(PRODUCE, 9, produce_request(b"x" * 900_000))
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.socket.settimeout(1.0)
        served = fencepost_broker.server_counts
        with pytest.raises(TimeoutError):
            send_fetches_forever(client)
        assert served.sent_bytes < 64 << 20
        with RawClient(fencepost_broker.bootstrap_servers) as other:
            assert other.ask(API_VERSIONS, 0, ApiVersionsRequest()).error_code == ErrorCode.NONE


@pytest.fixture
def frequent_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections are looked at every 50 ms, not every 5 s."""
    monkeypatch.setattr(broker_server, "CONNECTION_SWEEP_INTERVAL_S", 0.05)


@pytest.mark.usefixtures("frequent_sweeps")
def test_a_request_that_never_ends_is_not_waited_for() -> None:
    settings = {"request.read.timeout.ms": "200"}
    with EmbeddedBroker(settings=settings) as broker, RawClient(broker.bootstrap_servers) as client:
        client.socket.sendall(b"\x00\x00\x01\x00only the beginning")
        assert client.is_closed_by_broker()


@pytest.mark.usefixtures("frequent_sweeps")
def test_an_idle_connection_is_closed_and_one_with_a_parked_fetch_is_not() -> None:
    with (
        EmbeddedBroker(settings={"connections.max.idle.ms": "300"}) as broker,
        RawClient(broker.bootstrap_servers) as waiting,
        RawClient(broker.bootstrap_servers) as idle,
    ):
        create_topic(waiting)
        waiting.send(FETCH, 11, fetch_request(offset=0, max_wait_ms=1_500))
        assert idle.is_closed_by_broker()
        assert waiting.receive(FETCH, 11)[1].error_code == ErrorCode.NONE


def test_connections_beyond_the_limit_are_closed_and_the_others_are_served() -> None:
    with (
        EmbeddedBroker(settings={"max.connections": "2"}) as broker,
        RawClient(broker.bootstrap_servers) as first,
        RawClient(broker.bootstrap_servers) as second,
    ):
        for client in (first, second):
            client.ask(API_VERSIONS, 0, ApiVersionsRequest())
        with RawClient(broker.bootstrap_servers) as third:
            assert third.is_closed_by_broker()
        assert first.ask(API_VERSIONS, 0, ApiVersionsRequest()).error_code == ErrorCode.NONE


def test_a_large_batch_is_committed_without_waiting_for_the_end_of_the_turn(
    fencepost_broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop may go on reading for long: it does as long as a client sends."""
    server = fencepost_broker._server
    assert server is not None
    with RawClient(fencepost_broker.bootstrap_servers) as client:
        create_topic(client)
        client.ask(PRODUCE, 9, produce_request(b"small"))
        monkeypatch.setattr(server, "_end_turn_soon", lambda: None)
        end = time.monotonic() + DEADLINE_S
        while server._turn_is_ending or server._commit_in_flight or server.core.has_unsynced_entries:
            assert time.monotonic() < end
            time.sleep(0.01)
        client.send(PRODUCE, 9, produce_request(bytes(EAGER_COMMIT_BYTES)))
        answer = client.receive(PRODUCE, 9)[1]
        assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE
