"""A network that loses things, between a program and its broker: a request, an answer, or a broker's patience.

It stands before one broker and tells clients that it is that broker. Faults are planned by API and number:
`lose_answer("Produce", 3)` lets the third Produce reach the broker, swallows the answer and ends the connection. `then`
is called at that moment, while the client waits: to kill the broker, for instance.
"""

import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable
from queue import SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple, Self

from fencepost.lab.framed_socket import end, read_frame, write_pieces
from fencepost.types import Buffer
from fencepost.wire.api import API_TABLE
from fencepost.wire.codec import encode_response, read_request, read_response
from fencepost.wire.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse

Then = Callable[[], None]
PRODUCE = 0


class Fault(NamedTuple):
    kind: str
    then: Then | None = None
    error_code: int = 0


class Expected(NamedTuple):
    """A request whose answer is awaited; `answer` where the broker never saw it."""

    api_key: int
    version: int
    correlation_id: int
    fault: Fault | None
    answer: Any = None


class LossyNetwork:
    def __init__(self, bootstrap_servers: str) -> None:
        host, port = bootstrap_servers.rsplit(":", 1)
        self._upstream = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._plan: dict[tuple[str, int], Fault] = {}
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    def lose_request(self, api_name: str, number: int = 1, then: Then | None = None) -> None:
        self._plan[api_name, number] = Fault("lose request", then)

    def lose_answer(self, api_name: str, number: int = 1, then: Then | None = None) -> None:
        self._plan[api_name, number] = Fault("lose answer", then)

    def refuse_produce(self, number: int, error_code: int) -> None:
        """The broker never sees it. The client is told this code, once the next request is on its way too."""
        self._plan["Produce", number] = Fault("refuse", error_code=error_code)

    @property
    def is_done(self) -> bool:
        """Whether everything that was planned has happened."""
        return not self._plan

    def next_fault(self, api_name: str) -> Fault | None:
        with self._lock:
            self._seen[api_name] += 1
            return self._plan.pop((api_name, self._seen[api_name]), None)

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        end(self._listener)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                broker = socket.create_connection(self._upstream)
            except OSError:  # the broker is down: so is the way to it
                end(client)
                continue
            for sock in (client, broker):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = _Connection(self, client, broker)
            for carry in (connection.carry_requests, connection.carry_answers):
                threading.Thread(target=carry, daemon=True).start()


class _Connection:
    def __init__(self, network: LossyNetwork, client: socket.socket, broker: socket.socket) -> None:
        self._network = network
        self._client = client
        self._broker = broker
        self._expected: SimpleQueue[Expected | None] = SimpleQueue()

    def carry_requests(self) -> None:
        held: Expected | None = None
        while (frame := read_frame(self._client)) is not None:
            if held is not None:
                self._expected.put(held)
                held = None
            header, request = read_request(memoryview(frame))
            fault = self._network.next_fault(API_TABLE[header.api_key].name)
            if fault is not None and fault.kind == "lose request":
                if fault.then is not None:
                    fault.then()
                break
            answer = _refusal(request, fault.error_code) if fault is not None and fault.kind == "refuse" else None
            if not (header.api_key == PRODUCE and getattr(request, "acks", -1) == 0):
                expected = Expected(header.api_key, header.api_version, header.correlation_id, fault, answer)
                if answer is not None:
                    held = expected
                else:
                    self._expected.put(expected)
            if answer is None and not write_pieces(self._broker, [struct.pack(">i", len(frame)), frame]):
                break
        self._expected.put(None)

    def carry_answers(self) -> None:
        while (expected := self._expected.get()) is not None:
            answer = self._answer(expected)
            fault = expected.fault
            if fault is not None and fault.kind == "lose answer":
                if fault.then is not None:
                    fault.then()
                break
            if answer is None or not write_pieces(self._client, answer):
                break
        end(self._client)
        end(self._broker)

    def _answer(self, expected: Expected) -> list[Buffer] | None:
        if expected.answer is not None:
            return encode_response(expected.api_key, expected.version, expected.correlation_id, expected.answer)
        frame = read_frame(self._broker)
        if frame is None:
            return None
        if API_TABLE[expected.api_key].name not in ("Metadata", "FindCoordinator"):
            return [struct.pack(">i", len(frame)), frame]
        _, response = read_response(expected.api_key, expected.version, memoryview(frame))
        for row in [*getattr(response, "brokers", []), *getattr(response, "coordinators", []), response]:
            if hasattr(row, "port"):
                row.host, row.port = "127.0.0.1", self._network.port
        return encode_response(expected.api_key, expected.version, expected.correlation_id, response)


def _refusal(request: Any, error_code: int) -> ProduceResponse:
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    PartitionProduceResponse(index=row.index, error_code=error_code, base_offset=-1)
                    for row in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )
