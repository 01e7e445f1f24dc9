"""Stopping twice is stopping once, and a good-bye that fails still ends."""

import asyncio
from pathlib import Path

import pytest

from fencepost.journal.disk import SyncFailed
from fencepost.journal.journal import Journal
from fencepost.server.broker_server import BrokerServer
from fencepost.server.opening import open_core
from fencepost.settings import BrokerSettings

TIMEOUT_S = 10.0


def test_a_second_stop_waits_for_the_first(tmp_path: Path) -> None:
    async def live() -> BrokerServer:
        server = BrokerServer(open_core(tmp_path, BrokerSettings()))
        await server.start("127.0.0.1", 0)
        await asyncio.wait_for(asyncio.gather(server.stop(), server.stop()), TIMEOUT_S)
        await server.stop()
        return server

    assert asyncio.run(live()).failure is None


def test_whoever_waits_for_the_end_hears_of_it_when_the_good_bye_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_journal: Journal) -> None:
        raise SyncFailed("planted")

    async def live() -> BrokerServer:
        server = BrokerServer(open_core(tmp_path, BrokerSettings()))
        await server.start("127.0.0.1", 0)
        monkeypatch.setattr(Journal, "close", failing)
        stopping = asyncio.ensure_future(server.stop())
        await asyncio.wait_for(server.wait_stopped(), TIMEOUT_S)
        await asyncio.gather(stopping, return_exceptions=True)
        return server

    assert isinstance(asyncio.run(live()).failure, SyncFailed)
