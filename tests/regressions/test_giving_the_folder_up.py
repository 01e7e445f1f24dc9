"""However a broker ends, its data folder is free afterwards: the same process can open it again."""

import socket
from pathlib import Path

import pytest

from fencepost.broker.core import BrokerCore
from fencepost.errors import CorruptLog
from fencepost.journal.disk import SyncFailed
from fencepost.journal.journal import Journal
from fencepost.server.embedded import EmbeddedBroker
from fencepost.server.file_disk import RealFile
from tests.server.raw_client import RawClient
from tests.server.test_connections import PRODUCE, create_topic, produce_request


def test_after_a_start_that_failed_because_the_port_was_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused = EmbeddedBroker(data=tmp_path, port=taken.getsockname()[1])
        with pytest.raises(OSError, match="in use"):
            refused.start()
    with EmbeddedBroker(data=tmp_path) as broker:
        assert broker.port


def test_after_a_recovery_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(_core: object, _now: object) -> None:
        raise CorruptLog("planted")

    with monkeypatch.context() as planted:
        planted.setattr(BrokerCore, "recover", unreadable)
        broker = EmbeddedBroker(data=tmp_path)
        with pytest.raises(CorruptLog):
            broker.start()
    with EmbeddedBroker(data=tmp_path) as again:
        assert again.port


def test_after_a_failed_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_file: RealFile) -> None:
        raise SyncFailed("planted")

    broker = EmbeddedBroker(data=tmp_path).start()
    with RawClient(broker.bootstrap_servers) as client:
        create_topic(client)
        with monkeypatch.context() as planted:
            planted.setattr(RealFile, "datasync", failing)
            client.send(PRODUCE, 9, produce_request(b"lost"))
            assert client.receive_frame() is None
    with pytest.raises(SyncFailed):
        broker.stop()
    with EmbeddedBroker(data=tmp_path) as again:
        assert again.core.log("records", 0) is not None


def test_after_a_good_bye_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_journal: Journal, _state: object) -> int:
        raise SyncFailed("planted")

    broker = EmbeddedBroker(data=tmp_path).start()
    with monkeypatch.context() as planted:
        planted.setattr(Journal, "append_checkpoint", failing)
        with pytest.raises(SyncFailed):
            broker.stop()
    with EmbeddedBroker(data=tmp_path) as again:
        assert again.port
