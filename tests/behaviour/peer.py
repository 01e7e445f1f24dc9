"""A broker under test, ours or Apache Kafka, and a client that puts requests to it field by field.

Names of topics, groups and transactional ids come from `peer.name`, so that tests share a broker without meeting.
Where the two brokers are meant to differ, a test asks `peer.differs`, which names the row of
docs/differences-from-kafka.md that gives the reason.
"""

import itertools
import time
from typing import Any, Literal, TypeVar

from fencepost.errors import ErrorCode
from fencepost.wire.api import API_TABLE
from fencepost.wire.message import Message
from fencepost.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from fencepost.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from fencepost.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.behaviour.differences import DIFFERENCES
from tests.server.raw_client import RawClient

KEYS = {api.name: key for key, api in API_TABLE.items()}
PATIENCE_S = 20.0
PAUSE_S = 0.02
NUMBERS = itertools.count(1)
EARLIEST = -2
PASSING = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,  # of a Kafka that has just made __transaction_state and elects its leaders
    ErrorCode.CONCURRENT_TRANSACTIONS,
)

AnswerT = TypeVar("AnswerT")


class Client(RawClient):
    """A connection whose requests know their own API key."""

    def put(self, request: Message, version: int) -> Any:
        return self.ask(key_of(request), version, request)

    def post(self, request: Message, version: int) -> int:
        return self.send(key_of(request), version, request)

    def collect(self, request: Message, version: int) -> Any:
        return self.receive(key_of(request), version)[1]

    def put_settled(self, request: Message, version: int) -> Any:
        """Ask again while the end of the last transaction is still being written: Kafka answers before its markers."""
        return until(lambda: self.put(request, version), lambda answer: answer.error_code not in PASSING)


class Peer:
    def __init__(self, kind: Literal["fencepost", "kafka"], bootstrap_servers: str) -> None:
        self.kind = kind
        self.bootstrap_servers = bootstrap_servers
        self.client = Client(bootstrap_servers)
        self._clients = [self.client]

    def close(self) -> None:
        for client in self._clients:
            client.socket.close()

    def connect(self) -> Client:
        """Another connection, younger than all before it; it is closed with the peer."""
        self._clients.append(Client(self.bootstrap_servers))
        return self._clients[-1]

    def name(self, stem: str) -> str:
        return f"{stem}-{next(NUMBERS)}"

    def differs(self, difference: str, *, kafka: AnswerT, fencepost: AnswerT) -> AnswerT:
        """What this broker is expected to answer where the two differ on purpose."""
        assert difference in DIFFERENCES, f"{difference} is not a row of docs/differences-from-kafka.md"
        return kafka if self.kind == "kafka" else fencepost

    def put(self, request: Message, version: int) -> Any:
        return self.client.put(request, version)

    def create_topic(self, stem: str = "topic", *, partitions: int = 1, **settings: str) -> str:
        """A new topic with a leader for every partition. Settings are Kafka's names, with _ for the dots."""
        topic = self.name(stem)
        configs = [CreatableTopicConfig(name.replace("_", "."), value) for name, value in settings.items()]
        wanted = CreatableTopic(topic, num_partitions=partitions, replication_factor=1, configs=configs)
        created = self.put(CreateTopicsRequest([wanted], timeout_ms=20_000), 7).topics[0]
        assert created.error_code == 0, created
        wanted_offsets = [ListOffsetsPartition(index, timestamp=EARLIEST) for index in range(partitions)]
        request = ListOffsetsRequest(-1, 0, [ListOffsetsTopic(topic, wanted_offsets)])
        until(lambda: self.put(request, 5).topics[0].partitions, lambda found: not any(e.error_code for e in found))
        return topic

    def describe_topic(self, topic: str) -> Any:
        request = MetadataRequest([MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
        return self.put(request, 12).topics[0]


def key_of(request: Message) -> int:
    return KEYS[type(request).__name__.removesuffix("Request")]


def until(ask: Any, is_enough: Any) -> Any:
    """Ask until the answer is enough, or fail with the last one."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_enough(answer := ask()):
        assert time.monotonic() < deadline, f"still not so after {PATIENCE_S:.0f} s: {answer}"
        time.sleep(PAUSE_S)
    return answer
