"""The shell around the core: sockets, clocks, timers and the thread that syncs the journal.

Everything happens on one event loop, in the order in which requests arrive. Only writing and syncing a commit group
happens on another thread, so a slow disk delays acknowledgements and nothing else. While one group is being synced,
appends gather in the next: that is the whole of group commit. A third thread cleans sealed segments.

A turn of the loop serves the requests of all sockets that were readable. What need not happen for each of them happens
once, at its end: the commit begins (that of large batches sooner) and the timer is set. Replies that a sync released
leave in one write for each connection.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fencepost.broker.call import NO_REPLY, Call, Outcome, Reply
from fencepost.broker.core import BrokerCore
from fencepost.errors import CloseConnection, CorruptLog, FencepostError, InvariantBroken
from fencepost.journal.disk import SyncFailed
from fencepost.journal.journal import CommitGroup
from fencepost.server.connection import RECEIVED_BYTES, ClientConnection
from fencepost.server.logs import logger
from fencepost.server.threads import CleaningThread, CommitThread
from fencepost.types import Buffer, Now
from fencepost.wire.codec import UnsupportedRequest, encode_response, read_request


def read_clocks() -> Now:
    """Both clocks of the shell, read together."""
    return Now(wall_ms=time.time_ns() // 1_000_000, monotonic_ms=time.monotonic_ns() // 1_000_000)


SYNC_SECONDS_BOUNDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0)


@dataclass(slots=True)
class Counts:
    """What the server counts as it goes, in plain numbers; `metrics.py` shows them."""

    requests: dict[int, int] = field(default_factory=dict)
    received_bytes: int = 0
    sent_bytes: int = 0
    connections_opened: int = 0
    commits: int = 0
    sync_seconds_total: float = 0.0
    sync_seconds_buckets: list[int] = field(default_factory=lambda: [0] * (len(SYNC_SECONDS_BOUNDS) + 1))

    def count_request(self, api_key: int, size_bytes: int) -> None:
        self.requests[api_key] = self.requests.get(api_key, 0) + 1
        self.received_bytes += size_bytes

    def count_commit(self, seconds: float) -> None:
        self.commits += 1
        self.sync_seconds_total += seconds
        bucket = next((index for index, bound in enumerate(SYNC_SECONDS_BOUNDS) if seconds <= bound), -1)
        self.sync_seconds_buckets[bucket] += 1


CONNECTION_SWEEP_INTERVAL_S = 5.0
EAGER_COMMIT_BYTES = 256 << 10
"""So much does not wait for the end of the turn: the loop goes on reading as long as a socket has more, and while it
receives the next large batch the disk can write this one: `send_arrow` of 300 MB takes 4.0 s and without it 4.5
(medians of 12 runs in turns on a busy machine)."""
UNSYNCED_BYTES_MAX = 128 << 20
"""While more than this waits for the disk, nothing is read: it lies in memory."""


class BrokerServer:
    """Serves one `BrokerCore` on one address. `failure` holds what stopped it, if anything did."""

    def __init__(self, core: BrokerCore) -> None:
        self.core = core
        self.failure: BaseException | None = None
        self.counts = Counts()
        self.connections: dict[int, ClientConnection] = {}
        self.received = memoryview(bytearray(RECEIVED_BYTES))
        self._next_connection_id = 0
        self._committer = CommitThread()
        self._cleaning = CleaningThread(core.housekeeping.cleaner, run=self._run, fail=self._fail)
        self._turn_is_ending = False
        self._awaiting_sync: dict[ClientConnection, None] = {}
        """Connections whose next reply waits for the journal."""
        self._held_back: dict[ClientConnection, None] = {}
        """Connections that found that nothing more was taken."""
        self._commit_in_flight = False
        self._commit_ended = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at_ms = 0
        self._sweep: asyncio.TimerHandle | None = None
        self._listener: asyncio.Server | None = None
        self._is_stopping = False
        self._stopped = asyncio.Event()

    # Life

    async def start(self, host: str, port: int) -> tuple[str, int]:
        """Listen, and return the address that was bound."""
        self._loop = asyncio.get_running_loop()
        self._listener = await self._loop.create_server(self._new_connection, host, port, backlog=512)
        bound: tuple[str, int] = self._listener.sockets[0].getsockname()[:2]
        self.core.advertise(host=bound[0], port=bound[1])
        self._end_turn_soon()
        self._sweep = self._loop.call_later(CONNECTION_SWEEP_INTERVAL_S, self._close_silent_connections)
        return bound

    async def wait_stopped(self) -> None:
        await self._stopped.wait()

    async def stop(self) -> None:
        """Stop listening and reading, sync what is appended, answer what that releases, close. Twice is once."""
        if self._is_stopping:
            await self._stopped.wait()
            return
        self._is_stopping = True
        try:
            await self._stop()
        finally:
            self._stopped.set()

    async def _stop(self) -> None:
        for connection in self.connections.values():
            connection.adjust_reading()
        if self._listener is not None:
            self._listener.close()
        for handle in (self._timer, self._sweep):
            if handle is not None:
                handle.cancel()
        await self._cleaning.stop()
        while self._commit_in_flight or (self.failure is None and self.core.has_unsynced_entries):
            self._start_commit()
            self._commit_ended.clear()
            if self._commit_in_flight:
                await self._commit_ended.wait()
        self._deliver()
        for connection in list(self.connections.values()):
            connection.close("the broker stops")
        self._committer.stop()
        self._run(self.core.close)
        if self.failure is not None:
            self.core.journal.abandon()
        for connection in list(self.connections.values()):
            connection.cut_off()

    def _fail(self, problem: BaseException) -> None:
        """Going on could break a promise: stop at once, without touching the journal again."""
        if self.failure is None:
            self.failure = problem
            logger.critical("the broker stops: %s", problem)
            for connection in list(self.connections.values()):
                connection.close("the broker stops")
            self._stopped.set()

    # Clocks and timers

    def monotonic_ms(self) -> int:
        return int(time.monotonic() * 1000)

    def _arm_timer(self) -> None:
        """A timer that fires too early does no harm, so one that is early enough is left alone."""
        wake_at_ms = None if self._is_stopping else self.core.wake_at_ms()
        if wake_at_ms is None or (self._timer is not None and self._timer_at_ms <= wake_at_ms):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at_ms = wake_at_ms
        delay_s = max(0, wake_at_ms - self.monotonic_ms()) / 1000
        self._timer = self._loop.call_later(delay_s, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._run(lambda: self.core.tick(read_clocks()))
        self._end_turn_soon()

    def _close_silent_connections(self) -> None:
        now_ms = self.monotonic_ms()
        settings = self.core.settings
        for connection in list(self.connections.values()):
            started_ms, closing_since_ms = connection.frame_started_ms, connection.closing_since_ms
            if closing_since_ms is not None:
                if now_ms - closing_since_ms > settings.request_read_timeout_ms:
                    connection.cut_off()
            elif started_ms is not None and now_ms - started_ms > settings.request_read_timeout_ms:
                connection.close("a request was begun and not finished in time")
            elif not connection.waiting and now_ms - connection.last_activity_ms > settings.connections_max_idle_ms:
                connection.close("idle")
        self._sweep = self._loop.call_later(CONNECTION_SWEEP_INTERVAL_S, self._close_silent_connections)

    # Connections

    def _new_connection(self) -> ClientConnection:
        self._next_connection_id += 1
        settings = self.core.settings
        return ClientConnection(
            self,
            connection_id=self._next_connection_id,
            frame_bytes_max=settings.socket_request_max_bytes,
            queued_calls_max=settings.queued_max_requests,
        )

    def connection_opened(self, connection: ClientConnection) -> None:
        self.connections[connection.connection_id] = connection
        self.counts.connections_opened += 1
        if self._is_stopping:
            connection.close("the broker stops")
        elif len(self.connections) > self.core.settings.max_connections:
            connection.close(f"more than max.connections={self.core.settings.max_connections}")

    def connection_closed(self, connection: ClientConnection) -> None:
        self.connections.pop(connection.connection_id, None)
        self._awaiting_sync.pop(connection, None)
        self._held_back.pop(connection, None)
        if connection.close_reason:
            logger.info("closed connection of %s: %s", connection.peer.address, connection.close_reason)
        self._run(lambda: self.core.connection_closed(connection.peer))
        self._end_turn_soon()

    def receive_frame(self, connection: ClientConnection, frame: memoryview) -> None:
        if self.failure is not None:
            connection.close("the broker stops")
            return
        try:
            header, request = read_request(frame)
        except UnsupportedRequest as problem:
            header, request = problem.header, None
        call = Call(
            api_key=header.api_key,
            api_version=header.api_version,
            correlation_id=header.correlation_id,
            client_id=header.client_id or "",
            peer=connection.peer,
            request=request,
            now=read_clocks(),
        )
        connection.waiting.append(call)
        if request is not None:
            self.counts.count_request(header.api_key, len(frame))
        outcome = self._handle(call)
        if isinstance(outcome, Reply):
            call.reply = outcome
            if outcome.position <= self.core.journal.synced_position:
                connection.flush()
            else:
                self._awaiting_sync[connection] = None
        elif isinstance(outcome, CloseConnection):
            connection.close(outcome.reason)
        elif outcome is NO_REPLY:
            connection.waiting.pop()
        if not self._turn_is_ending:
            self._end_turn_soon()
        if self.core.writer.unsynced_bytes >= EAGER_COMMIT_BYTES:
            self._committer.collect()
            self._start_commit()

    def encode_reply(self, call: Call) -> list[Buffer]:
        assert call.reply is not None
        pieces = encode_response(call.api_key, call.api_version, call.correlation_id, call.reply.message)
        self.counts.sent_bytes += sum(map(len, pieces))
        return pieces

    @property
    def synced_position(self) -> int:
        return self.core.journal.synced_position

    @property
    def takes_requests(self) -> bool:
        return not self._is_stopping and self.core.writer.unsynced_bytes < UNSYNCED_BYTES_MAX

    def hold_back(self, connection: ClientConnection) -> None:
        self._held_back[connection] = None

    # The core

    def _handle(self, call: Call) -> Outcome:
        """Let the core serve one request. A bug in it costs the client its connection, unless it left the core between
        the journal and its state: then only a restart puts the two together again."""
        position = self.core.journal.last_position
        try:
            return self.core.handle(call)
        except (InvariantBroken, CorruptLog, SyncFailed) as problem:
            self._fail(problem)
        except FencepostError as problem:
            return CloseConnection(str(problem))
        except Exception as problem:  # noqa: BLE001 - one of the two top loops
            logger.exception("request of %s failed: API key %d", call.peer.address, call.api_key)
            if self.core.journal.last_position != position:
                self._fail(problem)
        return CloseConnection("the request could not be served; the broker's log says why")

    def _run(self, step: Callable[[], None]) -> None:
        """One step of the core that no client asked for: if it fails, the broker does."""
        if self.failure is None:
            try:
                step()
            except Exception as problem:  # noqa: BLE001 - the other one
                logger.exception("the broker cannot go on")
                self._fail(problem)

    # The end of a turn

    def _end_turn_soon(self) -> None:
        if not self._turn_is_ending:
            self._turn_is_ending = True
            self._loop.call_soon(self._end_turn)

    def _end_turn(self) -> None:
        """See to the durability of what the turn appended, deliver what it released, and mind the next deadline."""
        self._turn_is_ending = False
        self._start_commit()
        self._deliver()
        self._take_up_reading()
        self._cleaning.start_next()
        self._arm_timer()

    def _deliver(self) -> None:
        """What was answered later than it was asked."""
        for call, reply in self.core.take_outbox():
            call.reply = reply
            connection = self.connections.get(call.peer.connection_id)
            if connection is not None:
                self._send_replies(connection)

    def _send_replies(self, connection: ClientConnection) -> None:
        connection.flush()
        if connection.waiting and connection.waiting[0].reply is not None:
            self._awaiting_sync[connection] = None

    def _take_up_reading(self) -> None:
        if self._held_back and self.takes_requests:
            held_back, self._held_back = self._held_back, {}
            for connection in held_back:
                connection.adjust_reading()

    def _start_commit(self) -> None:
        if self._commit_in_flight or self.failure is not None or not self.core.has_unsynced_entries:
            return
        self._run(self._begin_commit)

    def _begin_commit(self) -> None:
        group = self.core.begin_commit()
        if group is not None:
            self._commit_in_flight = True
            self._committer.commit(group, self._commit_done)

    def _commit_done(self, group: CommitGroup, problem: BaseException | None, seconds: float) -> None:
        self._commit_in_flight = False
        self._commit_ended.set()
        self.counts.count_commit(seconds)
        if problem is not None:
            self._fail(problem)
            return
        self._run(lambda: self.core.finish_commit(group))
        self._end_turn_soon()
        awaiting, self._awaiting_sync = self._awaiting_sync, {}
        for connection in awaiting:
            try:
                self._send_replies(connection)
            except Exception:  # noqa: BLE001 - the client being served at the moment has no part in it
                logger.exception("replies to %s cannot be sent", connection.peer.address)
                connection.waiting.clear()
                connection.close("the replies could not be sent; the broker's log says why")
