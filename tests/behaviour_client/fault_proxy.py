"""A broker's address with trouble in between: requests can be held up, cut off, or refused, each by plan.

The proxy stands before one broker and tells clients that it is that broker (it rewrites addresses in Metadata and
FindCoordinator answers). A fault is given to the next request of an API:

* `cut_before`: the connection ends before the broker sees the request;
* `cut_after`: the broker has answered, the client never hears it, the connection ends;
* `delay(seconds)`: the answer comes late;
* `refuse(code)`: the broker never sees it, the client is told the code;
* `deny(code)`: the broker has done it, the client is told the code;
* `deny_whole(code)`: the same, for the answer as a whole where it has rows too;
* `DAMAGE`: one bit of the records that a fetch brings is turned.
"""

import queue
import socket
import struct
import threading
import time
from collections import deque
from types import TracebackType
from typing import Any, NamedTuple, Self

from fencepost.lab.framed_socket import end, read_frame, write_pieces
from fencepost.types import Buffer
from fencepost.wire.api import API_TABLE
from fencepost.wire.codec import encode_response, read_request, read_request_header, read_response
from fencepost.wire.message import Message
from fencepost.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnTopicResult,
)
from fencepost.wire.messages.produce import PartitionProduceResponse, TopicProduceResponse
from fencepost.wire.messages.txn_offset_commit import TxnOffsetCommitResponsePartition, TxnOffsetCommitResponseTopic

NAMES = {key: api.name for key, api in API_TABLE.items()}


class Fault(NamedTuple):
    kind: str
    seconds: float = 0.0
    code: int = 0


CUT_BEFORE = Fault("cut_before")
CUT_AFTER = Fault("cut_after")
DAMAGE = Fault("damage")


def delay(seconds: float) -> Fault:
    return Fault("delay", seconds=seconds)


def refuse(code: int) -> Fault:
    return Fault("refuse", code=code)


def deny(code: int) -> Fault:
    return Fault("deny", code=code)


def deny_whole(code: int) -> Fault:
    return Fault("deny_whole", code=code)


class FaultProxy:
    def __init__(self, servers: str) -> None:
        host, port = servers.rsplit(":", 1)
        self.upstream = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.bootstrap_servers = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._plans: dict[str, deque[Fault | None]] = {}
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.seen: list[str] = []
        """The APIs of all requests, in order of their arrival."""
        self.used: list[tuple[str, Fault]] = []

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    def plan(self, api_name: str, *faults: Fault | None) -> None:
        """What happens to the next requests of this API, one fault each; None lets one pass."""
        self._plans.setdefault(api_name, deque()).extend(faults)

    def forget_plans(self) -> None:
        with self._lock:
            self._plans.clear()

    def next_fault(self, api_name: str) -> Fault | None:
        with self._lock:
            self.seen.append(api_name)
            plan = self._plans.get(api_name)
            fault = plan.popleft() if plan else None
            if fault is not None:
                self.used.append((api_name, fault))
            return fault

    @property
    def unused(self) -> dict[str, list[Fault | None]]:
        return {name: list(plan) for name, plan in self._plans.items() if plan}

    def cut_all(self) -> None:
        """End every connection that there is."""
        with self._lock:
            sockets, self._sockets = self._sockets, []
        for sock in sockets:
            end(sock)

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        end(self._listener)
        self.cut_all()
        for thread in self._threads:
            thread.join(10)

    def _start(self, target: Any, *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                broker = socket.create_connection(self.upstream)
            except OSError:
                return
            for sock in (client, broker):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._sockets += (client, broker)
            pipe = _Pipe(self, client, broker)
            self._start(pipe.carry_requests)
            self._start(pipe.carry_answers)


class _Sent(NamedTuple):
    """A request that needs an answer; `frame` where the broker never saw it."""

    api_key: int
    version: int
    correlation_id: int
    fault: Fault | None
    frame: bytes | None


class _Pipe:
    def __init__(self, proxy: FaultProxy, client: socket.socket, broker: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._broker = broker
        self._sent: queue.Queue[_Sent | None] = queue.Queue()

    def carry_requests(self) -> None:
        while (frame := read_frame(self._client)) is not None:
            header, _ = read_request_header(frame)
            fault = self._proxy.next_fault(NAMES[header.api_key])
            if fault == CUT_BEFORE:
                break
            is_hidden = fault is not None and fault.kind == "refuse"
            self._sent.put(
                _Sent(header.api_key, header.api_version, header.correlation_id, fault, frame if is_hidden else None)
            )
            if not is_hidden and not write_pieces(self._broker, [struct.pack(">i", len(frame)), frame]):
                break
        self._sent.put(None)

    def carry_answers(self) -> None:
        while (sent := self._sent.get()) is not None:
            answer = self._refusal(sent) if sent.frame is not None else self._answer(sent)
            if answer is None or sent.fault == CUT_AFTER:
                break
            if sent.fault is not None and sent.fault.kind == "delay":
                time.sleep(sent.fault.seconds)
            if not write_pieces(self._client, answer):
                break
        end(self._client)
        end(self._broker)

    def _answer(self, sent: _Sent) -> list[Buffer] | None:
        frame = read_frame(self._broker)
        if frame is None:
            return None
        name = NAMES[sent.api_key]
        kind = sent.fault.kind if sent.fault is not None else ""
        if name not in ("Metadata", "FindCoordinator") and kind not in ("deny", "deny_whole", "damage"):
            return [struct.pack(">i", len(frame)), frame]
        response: Any
        _, response = read_response(sent.api_key, sent.version, frame)
        if kind == "deny":
            assert sent.fault is not None
            set_error(response, sent.fault.code)
        elif kind == "deny_whole":
            assert sent.fault is not None
            response.error_code = sent.fault.code
        elif kind == "damage":
            turn_last_bit(response)
        self._hide_broker(response)
        return encode_response(sent.api_key, sent.version, sent.correlation_id, response)

    def _refusal(self, sent: _Sent) -> list[Buffer]:
        assert sent.fault is not None
        assert sent.frame is not None
        _, request = read_request(memoryview(sent.frame))
        response = API_TABLE[sent.api_key].response_class()
        answer_each(request, response)
        set_error(response, sent.fault.code)
        return encode_response(sent.api_key, sent.version, sent.correlation_id, response)

    def _hide_broker(self, response: Any) -> None:
        for row in [*getattr(response, "brokers", []), *getattr(response, "coordinators", []), response]:
            if hasattr(row, "port"):
                row.host, row.port = "127.0.0.1", self._proxy.port


def answer_each(request: Any, response: Any) -> None:
    """A row in the answer for every partition of the request."""
    name = type(request).__name__.removesuffix("Request")
    if name == "Produce":
        for topic in request.topic_data:
            rows = [PartitionProduceResponse(index=row.index, base_offset=-1) for row in topic.partition_data]
            response.responses.append(
                TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=rows)
            )
    elif name == "AddPartitionsToTxn":
        for topic in request.v3_and_below_topics:
            results = [AddPartitionsToTxnPartitionResult(partition_index=index) for index in topic.partitions]
            response.results_by_topic_v3_and_below.append(
                AddPartitionsToTxnTopicResult(name=topic.name, results_by_partition=results)
            )
    elif name == "TxnOffsetCommit":
        for topic in request.topics:
            committed = [
                TxnOffsetCommitResponsePartition(partition_index=row.partition_index) for row in topic.partitions
            ]
            response.topics.append(TxnOffsetCommitResponseTopic(name=topic.name, partitions=committed))
    elif name == "InitProducerId":
        response.producer_epoch = -1


def set_error(response: Message | Any, code: int) -> None:
    """The code wherever the answer has room for one; what only a success may say is taken back."""
    name = type(response).__name__.removesuffix("Response")
    if name == "Produce":
        for row in [row for topic in response.responses for row in topic.partition_responses]:
            row.error_code, row.base_offset = code, -1
    elif name == "Fetch":
        for row in [row for topic in response.responses for row in topic.partitions]:
            row.error_code, row.records = code, None
    elif name == "AddPartitionsToTxn":
        for row in [row for topic in response.results_by_topic_v3_and_below for row in topic.results_by_partition]:
            row.partition_error_code = code
    elif name in ("TxnOffsetCommit", "OffsetCommit", "ListOffsets"):
        for row in [row for topic in response.topics for row in topic.partitions]:
            row.error_code = code
    elif name in ("FindCoordinator", "OffsetFetch"):
        for row in [response, *getattr(response, "coordinators", []), *getattr(response, "groups", [])]:
            row.error_code = code
    elif name == "Metadata":
        for topic in response.topics:
            topic.error_code = code
    else:
        response.error_code = code
        if hasattr(response, "producer_id"):
            response.producer_id = response.producer_epoch = -1


def turn_last_bit(response: Any) -> None:
    for row in [row for topic in response.responses for row in topic.partitions]:
        if row.records and len(row.records[0]):
            whole = bytearray(row.records[0])
            whole[-1] ^= 1
            row.records = [bytes(whole)]
