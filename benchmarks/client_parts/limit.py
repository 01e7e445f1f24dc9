"""What a broker takes from one connection of record batches that were encoded before the clock started.

A client that encodes while it sends is limited by the broker where it comes near to this.
"""

import time

import pyarrow as pa
from client_parts.rounds import Work

from fencepost.client import TopicPartition
from fencepost.client.cluster import Cluster
from fencepost.client.raw_producer import RawProducer
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Deadline
from fencepost.client.values import ProducerIdentity
from fencepost.records.columnar.encode import ProducerStamp, encode_batches, stamp_producer
from fencepost.records.header import read_header
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

BATCH_BYTES_MAX = 1_000_000
START_TIMEOUT_S = 30.0


def encoded_beforehand(table: pa.Table) -> list[bytes]:
    found = encode_batches(table, default_timestamp_ms=0, batch_bytes_max=BATCH_BYTES_MAX)
    return [bytes(batch) for batch in found]


def send_encoded(servers: str, topic: str, encoded: list[bytes]) -> Work:
    where = TopicPartition(topic, 0)
    identity = _new_identity(servers)
    stamp = ProducerStamp(identity.producer_id, identity.producer_epoch, 0, is_transactional=False)
    batches = []
    for found in encoded:
        batch = bytearray(found)
        stamp_producer(batch, stamp)
        stamp = stamp.after(read_header(batch).record_count)
        batches.append((where, batch))
    with RawProducer(servers, identity=identity) as producer:
        producer.produce(batches[:1], timeout_s=60)  # it connects, too
        began = time.perf_counter()
        stored = producer.produce(batches[1:], timeout_s=60)
        return Work(sum(batch.record_count for batch in stored), time.perf_counter() - began)


def _new_identity(servers: str) -> ProducerIdentity:
    cluster = Cluster(servers, ClientSettings())
    deadline = Deadline(START_TIMEOUT_S)
    try:
        while True:
            answer = cluster.call_any(InitProducerIdRequest(transactional_id=None), InitProducerIdResponse)
            if not answer.error_code:
                return ProducerIdentity(answer.producer_id, answer.producer_epoch)
            assert not deadline.has_passed, answer
            time.sleep(0.1)  # Kafka gives out no producer id while it starts
    finally:
        cluster.close()
