"""A broker inside this process, on its own thread: for notebooks, tests and programs that want no set-up.

with EmbeddedBroker() as broker:
    producer = Producer(broker.bootstrap_servers, ...)
"""

import asyncio
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from fencepost.broker.core import BrokerCore
from fencepost.errors import FencepostError
from fencepost.server.broker_server import BrokerServer, Counts
from fencepost.server.opening import new_event_loop, open_core
from fencepost.settings import BrokerSettings, parse_settings

STOP_TIMEOUT_S = 30.0


class EmbeddedBroker:
    """A broker on a free loopback port, with a temporary data folder unless one is given.

    `settings` are Kafka's names and their values as text: `{"num.partitions": "4"}`.
    """

    def __init__(
        self, *, data: str | Path | None = None, port: int = 0, settings: Mapping[str, str] | None = None
    ) -> None:
        self._settings = parse_settings(BrokerSettings, settings or {})
        self._given_folder = None if data is None else Path(data)
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._port = port
        self._ready = threading.Event()
        self._problem: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._server: BrokerServer | None = None
        self.host = "127.0.0.1"
        self.port = port

    @property
    def bootstrap_servers(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def core(self) -> BrokerCore:
        """The core itself, for tests and the laboratory: look, and touch only from the broker's own thread."""
        return self._running_server.core

    @property
    def server_counts(self) -> Counts:
        """What the server has counted so far: requests, bytes, commits."""
        return self._running_server.counts

    @property
    def _running_server(self) -> BrokerServer:
        if self._server is None:
            raise FencepostError("the embedded broker is not running")
        return self._server

    def start(self) -> Self:
        """Returns when the broker listens, or raises what kept it from doing so."""
        folder = self._given_folder
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="fencepost-")
            folder = Path(self._temporary.name)
        self._ready.clear()
        self._thread = threading.Thread(target=self._run, args=(folder,), name="fencepost-broker", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._problem is not None:
            self.stop()
        return self

    def stop(self) -> None:
        """Sync, close, and wait until the thread has ended. Does nothing on a broker that is not running."""
        if self._thread is not None:
            if self._loop is not None and self._stop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(STOP_TIMEOUT_S)
            if self._thread.is_alive():
                raise FencepostError(f"the embedded broker did not stop within {STOP_TIMEOUT_S:.0f} s")
            self._thread = None
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise problem

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self, folder: Path) -> None:
        loop = self._loop = new_event_loop()
        try:
            loop.run_until_complete(self._serve(folder))
        except BaseException as problem:  # noqa: BLE001 - raised again by `start` or `stop`
            self._problem = problem
        finally:
            loop.close()
            self._ready.set()

    async def _serve(self, folder: Path) -> None:
        self._stop = asyncio.Event()
        server = self._server = BrokerServer(open_core(folder, self._settings))
        try:
            _, self.port = await server.start(self.host, self._port)
        except OSError:
            await server.stop()
            raise
        self._ready.set()
        stopping = asyncio.ensure_future(self._stop.wait())
        failing = asyncio.ensure_future(server.wait_stopped())
        await asyncio.wait([stopping, failing], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        failing.cancel()
        await server.stop()
        if server.failure is not None:
            raise server.failure
