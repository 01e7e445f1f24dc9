"""A broker stops although its clients never pause, and what it acknowledged is there afterwards."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from fencepost.server.embedded import EmbeddedBroker
from fencepost.server.file_disk import RealFile
from tests.server.raw_client import RawClient
from tests.server.test_connections import PRODUCE, create_topic, produce_request

PIPELINED = 20
STOPS_WITHIN_S = 5.0


def produce_without_pause(client: RawClient, acknowledged: list[int]) -> None:
    request = produce_request(b"record")
    try:
        for _ in range(PIPELINED):
            client.send(PRODUCE, 9, request)
        while True:
            response: Any = client.receive(PRODUCE, 9)[1]
            acknowledged.append(response.responses[0].partition_responses[0].base_offset)
            client.send(PRODUCE, 9, request)
    except (AssertionError, OSError):
        return


def test_a_broker_stops_while_clients_go_on_sending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasync = RealFile.datasync

    def slow_datasync(file: RealFile) -> None:
        time.sleep(0.02)
        datasync(file)

    monkeypatch.setattr(RealFile, "datasync", slow_datasync)
    broker = EmbeddedBroker(data=tmp_path).start()
    acknowledged: list[int] = []
    clients = [RawClient(broker.bootstrap_servers) for _ in range(3)]
    create_topic(clients[0])
    threads = [threading.Thread(target=produce_without_pause, args=(client, acknowledged)) for client in clients]
    for thread in threads:
        thread.start()
    while len(acknowledged) < 10 * PIPELINED:
        time.sleep(0.01)
    began = time.monotonic()
    broker.stop()
    stopped_after_s = time.monotonic() - began
    for thread, client in zip(threads, clients, strict=True):
        thread.join()
        client.socket.close()
    assert stopped_after_s < STOPS_WITHIN_S
    monkeypatch.undo()
    with EmbeddedBroker(data=tmp_path) as again:
        log = again.core.log("records", 0)
        assert log is not None
        assert log.state.end_offset > max(acknowledged)
        assert len(set(acknowledged)) == len(acknowledged)
