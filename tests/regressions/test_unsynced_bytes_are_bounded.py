"""A client that sends faster than the disk writes is slowed down, also if it wants no answers."""

import threading
from typing import Any

import pytest

from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.server import broker_server
from fencepost.server.embedded import EmbeddedBroker
from fencepost.server.file_disk import RealFile
from fencepost.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.server.raw_client import RawClient
from tests.server.test_connections import PRODUCE, create_topic

VALUE_BYTES = 500_000
REQUESTS = 200
UNSYNCED_BYTES_MAX = 4 << 20


@pytest.mark.parametrize("acks", [0, -1])
def test_unsynced_bytes_do_not_grow_without_bound(acks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_server, "UNSYNCED_BYTES_MAX", UNSYNCED_BYTES_MAX, raising=False)
    is_disk_free = threading.Event()
    is_disk_free.set()
    datasync = RealFile.datasync

    def hanging_datasync(file: RealFile) -> None:
        is_disk_free.wait()
        datasync(file)

    monkeypatch.setattr(RealFile, "datasync", hanging_datasync)
    batch = build_batch([Record(timestamp_ms=1, value=bytes(VALUE_BYTES))])
    data = [TopicProduceData(name="records", partition_data=[PartitionProduceData(0, batch)])]
    request = ProduceRequest(acks=acks, timeout_ms=1000, topic_data=data)
    settings = {"queued.max.requests": "1000"}
    with EmbeddedBroker(settings=settings) as broker, RawClient(broker.bootstrap_servers) as client:
        create_topic(client)
        is_disk_free.clear()
        client.socket.settimeout(1.0)
        sent = 0
        try:
            while sent < REQUESTS:
                client.send(PRODUCE, 9, request)
                sent += 1
        except TimeoutError:
            pass
        log = broker.core.log("records", 0)
        assert log is not None
        unsynced_bytes = (log.state.end_offset - log.state.high_watermark) * VALUE_BYTES
        is_disk_free.set()
        assert unsynced_bytes <= UNSYNCED_BYTES_MAX + 4 * VALUE_BYTES


def test_a_client_that_was_slowed_down_goes_on_when_the_disk_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_server, "UNSYNCED_BYTES_MAX", UNSYNCED_BYTES_MAX, raising=False)
    batch = build_batch([Record(timestamp_ms=1, value=bytes(VALUE_BYTES))])
    data = [TopicProduceData(name="records", partition_data=[PartitionProduceData(0, batch)])]
    request = ProduceRequest(acks=0, timeout_ms=1000, topic_data=data)
    with EmbeddedBroker() as broker, RawClient(broker.bootstrap_servers) as client:
        create_topic(client)
        for _ in range(REQUESTS):
            client.send(PRODUCE, 9, request)
        request.acks = -1
        response: Any = client.ask(PRODUCE, 9, request)
        assert response.responses[0].partition_responses[0].base_offset == REQUESTS
