"""Whatever one client sends, the broker and the other clients go on; memory stays bounded."""

import os
import random
import struct
from collections.abc import Iterator

import psutil
import pytest

from fencepost.errors import ErrorCode
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.server.embedded import EmbeddedBroker
from fencepost.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fencepost.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from fencepost.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.server.raw_client import RawClient

PRODUCE, METADATA, API_VERSIONS = 0, 3, 18
MEBIBYTE = 1 << 20


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedBroker]:
    settings = {"socket.request.max.bytes": str(4 * MEBIBYTE), "request.read.timeout.ms": "60000"}
    with EmbeddedBroker(settings=settings) as running:
        yield running


@pytest.fixture
def bystander(broker: EmbeddedBroker) -> Iterator[RawClient]:
    """Another client, connected before the trouble begins, that must not notice it."""
    with RawClient(broker.bootstrap_servers) as client:
        assert_served(client)
        yield client
        assert_served(client)


def assert_served(client: RawClient) -> None:
    response = client.ask(API_VERSIONS, 3, ApiVersionsRequest())
    assert isinstance(response, ApiVersionsResponse)
    assert response.error_code == ErrorCode.NONE


def frame(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n", id="another protocol"),
        pytest.param(struct.pack(">i", -1), id="negative length"),
        pytest.param(struct.pack(">i", 2**31 - 1), id="giant length"),
        pytest.param(struct.pack(">i", 4 * MEBIBYTE + 1), id="one byte above the limit"),
        pytest.param(frame(b""), id="empty frame"),
        pytest.param(frame(b"\x00"), id="frame too short for a header"),
        pytest.param(frame(struct.pack(">hhih", 3, 9, 7, 30000)), id="client id longer than the frame"),
        pytest.param(frame(struct.pack(">hhih", 999, 0, 7, -1)), id="unknown API"),
        pytest.param(frame(struct.pack(">hhih", PRODUCE, 2, 7, -1)), id="version that was removed"),
        pytest.param(frame(struct.pack(">hhih", METADATA, 99, 7, -1)), id="version of the future"),
        pytest.param(frame(struct.pack(">hhihi", METADATA, 1, 7, -1, 2**31 - 1)), id="array longer than the frame"),
    ],
)
def test_a_broken_request_closes_its_own_connection_only(
    broker: EmbeddedBroker, bystander: RawClient, sent: bytes
) -> None:
    with RawClient(broker.bootstrap_servers) as client:
        client.socket.sendall(sent)
        assert client.is_closed_by_broker()


def test_half_a_frame_is_waited_for_and_then_served(broker: EmbeddedBroker, bystander: RawClient) -> None:
    body = struct.pack(">hhih", API_VERSIONS, 0, 77, -1)
    with RawClient(broker.bootstrap_servers) as client:
        for byte in frame(body):
            client.socket.sendall(bytes([byte]))
        correlation_id, response = client.receive(API_VERSIONS, 0)
        assert correlation_id == 77
        assert response.error_code == ErrorCode.NONE


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(broker: EmbeddedBroker) -> None:
    with RawClient(broker.bootstrap_servers) as client:
        client.socket.sendall(frame(struct.pack(">hhih", API_VERSIONS, 42, 5, -1)))
        correlation_id, response = client.receive(API_VERSIONS, 0)
        assert correlation_id == 5
        assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
        assert [row.api_key for row in response.api_keys] == [API_VERSIONS]
        assert_served(client)


def test_random_bytes_on_many_connections_harm_nobody(broker: EmbeddedBroker, bystander: RawClient) -> None:
    generator = random.Random(20261115)
    for _ in range(200):
        with RawClient(broker.bootstrap_servers) as client:
            body = generator.randbytes(generator.randrange(0, 200))
            header = struct.pack(
                ">hhi", generator.choice([0, 1, 2, 3, 8, 10, 11, 18, 22, 26]), generator.randrange(14), 1
            )
            client.socket.sendall(frame(header + body))
    assert_served(bystander)


def test_promised_bytes_that_never_come_take_no_memory(broker: EmbeddedBroker, bystander: RawClient) -> None:
    process = psutil.Process(os.getpid())
    before = process.memory_info().rss
    clients = [RawClient(broker.bootstrap_servers) for _ in range(64)]
    for client in clients:
        client.socket.sendall(struct.pack(">i", 4 * MEBIBYTE) + b"\x00" * 100)
    assert_served(bystander)
    assert process.memory_info().rss - before < 64 * MEBIBYTE
    for client in clients:
        client.socket.close()


def produce(client: RawClient, batch: bytes, version: int = 9) -> int:
    client.ask(METADATA, 9, MetadataRequest(topics=[MetadataRequestTopic(name="records")]))
    data = [TopicProduceData(name="records", partition_data=[PartitionProduceData(0, batch)])]
    response = client.ask(PRODUCE, version, ProduceRequest(acks=-1, timeout_ms=1000, topic_data=data))
    return response.responses[0].partition_responses[0].error_code


GOOD_BATCH = build_batch([Record(timestamp_ms=1, value=b"v")])
OLD_FORMAT = struct.pack(">qiIbb", 0, 14 + 9, 0, 1, 0) + struct.pack(">qii", 0, -1, 1) + b"v"


@pytest.mark.parametrize(
    ("batch", "error_code"),
    [
        pytest.param(GOOD_BATCH, ErrorCode.NONE, id="a good one"),
        pytest.param(GOOD_BATCH[:-1] + b"x", ErrorCode.CORRUPT_MESSAGE, id="wrong checksum"),
        pytest.param(GOOD_BATCH[:16] + b"\x07" + GOOD_BATCH[17:], ErrorCode.CORRUPT_MESSAGE, id="wrong magic"),
        pytest.param(OLD_FORMAT, ErrorCode.INVALID_RECORD, id="message format 1"),
        pytest.param(GOOD_BATCH + GOOD_BATCH, ErrorCode.INVALID_RECORD, id="two batches"),
        pytest.param(b"", ErrorCode.INVALID_RECORD, id="no batch"),
        pytest.param(GOOD_BATCH[:-3], ErrorCode.INVALID_RECORD, id="cut short"),
    ],
)
def test_a_bad_batch_gets_the_right_error_and_the_connection_lives(
    broker: EmbeddedBroker, batch: bytes, error_code: ErrorCode
) -> None:
    with RawClient(broker.bootstrap_servers) as client:
        assert produce(client, batch) == error_code
        assert produce(client, GOOD_BATCH) == ErrorCode.NONE


def test_with_acks_0_an_error_closes_the_connection(broker: EmbeddedBroker, bystander: RawClient) -> None:
    with RawClient(broker.bootstrap_servers) as client:
        data = [TopicProduceData(name="no-such-topic", partition_data=[PartitionProduceData(0, GOOD_BATCH)])]
        client.send(PRODUCE, 9, ProduceRequest(acks=0, timeout_ms=1000, topic_data=data))
        assert client.is_closed_by_broker()
