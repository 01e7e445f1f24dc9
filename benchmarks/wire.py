"""Reading and writing messages: ours against kio's, for the messages that a broker meets all day.

    python benchmarks/wire.py

Microseconds of processor time per message, the best of several runs, the header included on both sides. kio reads in
native code and writes in Python.
"""

import io
import timeit
from collections.abc import Callable
from time import process_time
from typing import Any

from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer

from fencepost.types import Buffer
from fencepost.wire.codec import encode_request, encode_response, read_request, read_response
from fencepost.wire.message import Message
from fencepost.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from fencepost.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from fencepost.wire.messages.heartbeat import HeartbeatRequest
from fencepost.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from fencepost.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

PRODUCE, FETCH, METADATA, HEARTBEAT, END_TXN = 0, 1, 3, 12, 26
BATCH = bytes(64 * 1024)
ROUNDS = 60


def metadata() -> MetadataResponse:
    partitions = [
        MetadataResponsePartition(partition_index=index, replica_nodes=[1], isr_nodes=[1]) for index in range(4)
    ]
    topics = [MetadataResponseTopic(name=f"topic-{index}", partitions=partitions) for index in range(10)]
    brokers = [MetadataResponseBroker(node_id=1, host="127.0.0.1", port=9092)]
    return MetadataResponse(brokers=brokers, cluster_id="fencepost", controller_id=1, topics=topics)


def fetched() -> FetchResponse:
    partitions = [
        PartitionData(
            partition_index=index, high_watermark=9, last_stable_offset=9, log_start_offset=0, records=[BATCH[:8192]]
        )
        for index in range(8)
    ]
    return FetchResponse(responses=[FetchableTopicResponse(partitions=partitions)])


def messages() -> list[tuple[str, str, int, int, Message]]:
    """Name, side, API key, version, message."""
    topic_partition = TopicProduceData(name="orders", partition_data=[PartitionProduceData(index=0, records=BATCH)])
    answered = TopicProduceResponse(name="orders", partition_responses=[PartitionProduceResponse(base_offset=5)])
    fetch_partitions = [
        FetchPartition(partition=index, fetch_offset=9, partition_max_bytes=2**20) for index in range(8)
    ]
    return [
        ("Produce v9 request, 64 KB", "request", PRODUCE, 9, ProduceRequest(acks=-1, topic_data=[topic_partition])),
        ("Produce v9 response", "response", PRODUCE, 9, ProduceResponse(responses=[answered])),
        (
            "Fetch v12 request, 8",
            "request",
            FETCH,
            12,
            FetchRequest(topics=[FetchTopic("orders", partitions=fetch_partitions)]),
        ),
        ("Fetch v17 response, 8 x 8 KB", "response", FETCH, 17, fetched()),
        ("Heartbeat v4 request", "request", HEARTBEAT, 4, HeartbeatRequest("billing", 3, "member-1")),
        ("EndTxn v5 request", "request", END_TXN, 5, EndTxnRequest("shop-0", 4000, 7, True)),
        ("EndTxn v5 response", "response", END_TXN, 5, EndTxnResponse(producer_id=4000, producer_epoch=8)),
        ("Metadata v12 response, 10 x 4", "response", METADATA, 12, metadata()),
    ]


def best_us(*calls: Callable[[], object]) -> list[float]:
    """Each call's best time. They take turns, so that a noisy moment hits all of them."""
    numbers = [max(1, timeit.Timer(call).autorange()[0] // 40) for call in calls]
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for index, (call, number) in enumerate(zip(calls, numbers, strict=True)):
            best[index] = min(best[index], timeit.timeit(call, number=number, timer=process_time) / number * 1e6)
    return best


def measure(side: str, api_key: int, version: int, message: Message) -> list[float]:
    """kio's reading and writing, then ours."""
    load: Any = load_request_schema if side == "request" else load_response_schema
    kio_class = load(api_key, version)
    kio_header_class = kio_class.__header_schema__
    read_header, read_body = entity_reader(kio_header_class), entity_reader(kio_class)
    write_header, write_body = entity_writer(kio_header_class), entity_writer(kio_class)

    def write() -> list[Buffer]:
        if side == "request":
            return encode_request(api_key, version, 1, "client", message)
        return encode_response(api_key, version, 1, message)

    def read() -> object:
        return read_request(frame) if side == "request" else read_response(api_key, version, frame)

    def kio_read() -> tuple[Any, Any]:
        header, header_bytes = read_header(raw, 0)
        body, _ = read_body(raw, header_bytes)
        return header, body

    def kio_write() -> bytes:
        buffer = io.BytesIO()
        write_header(buffer, header)
        write_body(buffer, body)
        return buffer.getvalue()

    raw = b"".join(write())[4:]
    frame = memoryview(raw)
    header, body = kio_read()
    return best_us(kio_read, kio_write, read, write)


def main() -> None:
    print(f"{'':32}{'read: kio':>10}{'ours':>8}{'ours/kio':>10}{'write: kio':>13}{'ours':>8}{'kio/ours':>10}")
    for name, side, api_key, version, message in messages():
        kio_read, kio_write, read, write = measure(side, api_key, version, message)
        print(
            f"{name:32}{kio_read:10.2f}{read:8.2f}{read / kio_read:10.1f}"
            f"{kio_write:13.2f}{write:8.2f}{kio_write / write:10.1f}"
        )


if __name__ == "__main__":
    main()
