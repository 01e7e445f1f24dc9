"""A broker to talk to without sockets: a core over a simulated disk, clocks that only tests move.

Every request goes through the bytes of its version on the way in, and every reply on the way out, so a test that asks
something at some version has shown that the version can be read and written. `ask` commits and returns the reply;
`send` returns a `Sent`, whose `reply` is None while the request is parked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from fencepost.broker.call import PARKED, Call, CloseConnection, Outcome, Peer, Reply
from fencepost.broker.core import BrokerCore
from fencepost.errors import ErrorCode
from fencepost.journal.journal import Journal, JournalConfig
from fencepost.lab.simulated_disk import SimulatedDisk
from fencepost.records.builder import build_batch
from fencepost.records.reader import read_records
from fencepost.records.record import Record
from fencepost.settings import BrokerSettings, parse_settings
from fencepost.types import Now
from fencepost.wire.api import API_TABLE
from fencepost.wire.codec import encode_request, encode_response, read_request, read_response
from fencepost.wire.message import Message
from fencepost.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from fencepost.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest
from fencepost.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

HOST, PORT = "127.0.0.1", 9092
WALL_MS = 1_700_000_000_000
MONOTONIC_MS = 1_000
LENGTH_PREFIX_BYTES = 4
SEGMENT_BYTES_MAX = 1 << 20
SMALL = {"offsets.topic.num.partitions": "3", "transaction.state.log.num.partitions": "3"}

API_BY_REQUEST = {f"{api.name}Request": api for api in API_TABLE.values()}


def versions_of(request_name: str) -> range:
    """All versions of an API that the wire can speak: `versions_of("EndTxn")`."""
    api = API_BY_REQUEST[f"{request_name}Request"]
    return range(api.min_version, api.max_version + 1)


@dataclass(eq=False)
class Sent:
    """A request on its way. `outcome` is what the handler said at once."""

    call: Call
    outcome: Outcome
    reply: Any = None


class Broker:
    """`settings` are Kafka's names and text. `restarted()` opens the same disk again."""

    def __init__(self, *, disk: SimulatedDisk | None = None, now: Now | None = None, **settings: str) -> None:
        self._given = settings
        named = {name.replace("_", "."): value for name, value in settings.items()}
        self.settings = parse_settings(BrokerSettings, {**SMALL, **named})
        self.disk = disk or SimulatedDisk()
        self.now = now or Now(WALL_MS, MONOTONIC_MS)
        random = Random(7)
        config = JournalConfig(segment_bytes=min(self.settings.log_segment_bytes, SEGMENT_BYTES_MAX))
        journal = Journal.open(self.disk, config, salt=lambda: random.getrandbits(64))
        self.core = BrokerCore(journal, self.settings, random_bytes=random.randbytes)
        self.core.recover(self.now)
        self.core.advertise(host=HOST, port=PORT)
        self._waiting: dict[Call, Sent] = {}
        self._correlation_id = 0
        self.commit()

    def restarted(self) -> "Broker":
        """The broker after it was stopped and started."""
        self.core.close()
        return self._reopened(self.disk)

    def after_kill(self) -> "Broker":
        """The broker after its process was killed: no checkpoint, no good-bye."""
        return self._reopened(self.disk.snapshot())

    def _reopened(self, disk: SimulatedDisk) -> "Broker":
        return Broker(disk=disk, now=self.now, **self._given)

    # Time and the disk

    def commit(self) -> None:
        """Sync everything that was appended, and take what that releases."""
        while (group := self.core.begin_commit()) is not None:
            group.write_and_sync()
            self.core.finish_commit(group)
        self._deliver()

    def sleep(self, passed_ms: int) -> None:
        """Let time pass in one step, and do what has come due."""
        self.now = Now(self.now.wall_ms + passed_ms, self.now.monotonic_ms + passed_ms)
        self.core.tick(self.now)
        self.commit()

    # Requests

    def ask(self, request: Message, version: int | None = None, *, connection: int = 1, client_id: str = "test") -> Any:
        """The reply, once everything it waits for is synced."""
        sent = self.send(request, version, connection=connection, client_id=client_id)
        self.commit()
        assert sent.reply is not None, f"{type(request).__name__} was not answered: {sent.outcome}"
        return sent.reply

    def send(
        self, request: Message, version: int | None = None, *, connection: int = 1, client_id: str = "test"
    ) -> Sent:
        """Handle one request and sync nothing."""
        api = API_BY_REQUEST[type(request).__name__]
        version = api.max_version if version is None else version
        self._correlation_id += 1
        frame = b"".join(encode_request(api.key, version, self._correlation_id, client_id, request))
        header, decoded = read_request(frame[LENGTH_PREFIX_BYTES:])
        call = Call(
            api_key=header.api_key,
            api_version=header.api_version,
            correlation_id=header.correlation_id,
            client_id=header.client_id or "",
            peer=Peer(connection, HOST, 50_000 + connection),
            request=decoded,
            now=self.now,
        )
        sent = Sent(call, self.core.handle(call))
        if isinstance(sent.outcome, Reply):
            call.reply = sent.outcome
            self._waiting[call] = sent
        elif sent.outcome is PARKED:
            self._waiting[call] = sent
        self._deliver()
        return sent

    def is_closed(self, sent: Sent) -> bool:
        return isinstance(sent.outcome, CloseConnection)

    def _deliver(self) -> None:
        for call, reply in self.core.take_outbox():
            call.reply = reply
        for call, sent in list(self._waiting.items()):
            if call.reply is not None and call.reply.position <= self.core.synced_position:
                sent.reply = self._through_the_wire(call, call.reply.message)
                del self._waiting[call]

    def _through_the_wire(self, call: Call, message: Message) -> Any:
        frame = b"".join(encode_response(call.api_key, call.api_version, call.correlation_id, message))
        correlation_id, decoded = read_response(call.api_key, call.api_version, frame[LENGTH_PREFIX_BYTES:])
        assert correlation_id == call.correlation_id
        return decoded

    # Common steps

    def create_topic(self, name: str, partitions: int = 1, **settings: str) -> None:
        configs = [CreatableTopicConfig(key.replace("_", "."), value) for key, value in settings.items()]
        topic = CreatableTopic(name, num_partitions=partitions, replication_factor=1, configs=configs)
        (result,) = self.ask(CreateTopicsRequest(topics=[topic])).topics
        assert result.error_code == 0, result

    def topic_id(self, name: str) -> Any:
        return self.core.state.catalogue.topics[name].topic_id

    def produce(self, topic: str, *values: bytes, partition: int = 0, version: int = 12, **batch: Any) -> Any:
        """One batch; returns the partition's answer. `batch` goes to `build_batch`."""
        request = produce_request(topic, batch_of(*values, timestamp_ms=self.now.wall_ms, **batch), partition=partition)
        (answer,) = self.ask(request, version).responses[0].partition_responses
        return answer

    def produce_in_transaction(
        self, topic: str, *values: bytes, identity: tuple[int, int], transactional_id: str, **more: Any
    ) -> Any:
        producer_id, producer_epoch = identity
        version = more.pop("version", 12)
        partition = more.pop("partition", 0)
        batch = batch_of(
            *values,
            timestamp_ms=self.now.wall_ms,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            is_transactional=True,
            **{"base_sequence": 0, **more},
        )
        request = produce_request(topic, batch, partition=partition, transactional_id=transactional_id)
        (answer,) = self.ask(request, version).responses[0].partition_responses
        return answer

    def init_producer(self, transactional_id: str | None = None, timeout_ms: int = 60_000) -> tuple[int, int]:
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=timeout_ms)
        reply = self.ask(request, 5)
        if reply.error_code == ErrorCode.CONCURRENT_TRANSACTIONS:
            # What the instance before left open is aborted first; clients ask again.
            reply = self.ask(request, 5)
        assert reply.error_code == 0, reply
        return reply.producer_id, reply.producer_epoch

    def values(
        self, topic: str, partition: int = 0, *, offset: int = 0, isolation_level: int = 0
    ) -> list[bytes | None]:
        """The values that a reader sees, aborted ones left to the reader."""
        data = self.fetch(topic, partition, offset=offset, isolation_level=isolation_level)
        assert data.error_code == 0, data
        return [
            record.value
            for batch in batches_in(data.records)
            for record in read_records(batch)
            if record.offset >= offset
        ]

    def fetch(self, topic: str, partition: int = 0, *, offset: int = 0, isolation_level: int = 0) -> Any:
        """One partition's part of a fetch that does not wait."""
        request = fetch_request(topic, partition, offset=offset, isolation_level=isolation_level)
        (answer,) = self.ask(request, 12).responses
        return answer.partitions[0]


def batch_of(*values: bytes, timestamp_ms: int = WALL_MS, **batch: Any) -> bytes:
    return build_batch([Record(timestamp_ms=timestamp_ms, value=value) for value in values], **batch)


def produce_request(
    topic: str, batch: bytes | None, *, partition: int = 0, transactional_id: str | None = None, acks: int = -1
) -> ProduceRequest:
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(partition, batch)])
    return ProduceRequest(transactional_id=transactional_id, acks=acks, timeout_ms=30_000, topic_data=[data])


def fetch_request(
    topic: str,
    *partitions: int,
    offset: int = 0,
    isolation_level: int = 0,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    session: tuple[int, int] = (0, -1),
) -> FetchRequest:
    wanted = [FetchPartition(partition=each, fetch_offset=offset, partition_max_bytes=1 << 20) for each in partitions]
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        isolation_level=isolation_level,
        session_id=session[0],
        session_epoch=session[1],
        topics=[FetchTopic(topic=topic, partitions=wanted)] if wanted else [],
    )


def batches_in(records: Any) -> Sequence[bytes]:
    """The batches of a fetched record set, one by one."""
    data = b"".join(records) if isinstance(records, list) else bytes(records or b"")
    found, at = [], 0
    while at < len(data):
        size_bytes = 12 + int.from_bytes(data[at + 8 : at + 12], "big")
        found.append(data[at : at + size_bytes])
        at += size_bytes
    return found
