"""A producer's connection to one broker, with the batches that are on their way over it, in order."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from fencepost.client.connection import Connection
from fencepost.client.metadata import Node
from fencepost.client.produce_request import BatchAnswer, read_answer
from fencepost.client.producer_batch import ProducerBatch
from fencepost.errors import invariant
from fencepost.wire.messages.produce import ProduceRequest, ProduceResponse


class _OnWire(NamedTuple):
    batches: Sequence[ProducerBatch]
    topic_names: dict[UUID, str]


class BrokerLink:
    def __init__(self, node: Node, connection: Connection) -> None:
        self.node = node
        self.connection = connection
        self._on_wire: deque[_OnWire] = deque()

    @property
    def request_count(self) -> int:
        return len(self._on_wire)

    def send(
        self, request: ProduceRequest, batches: Sequence[ProducerBatch], *, version: int, timeout_s: float
    ) -> None:
        """If this raises, the link is lost and `lose` has the batches."""
        expects_answer = request.acks != 0
        if expects_answer:
            self._on_wire.append(_OnWire(batches, {topic.topic_id: topic.name for topic in request.topic_data}))
        self.connection.send(request, version=version, timeout_s=timeout_s, expects_answer=expects_answer)

    def receive(self) -> list[BatchAnswer]:
        """What has been answered by now."""
        answers: list[BatchAnswer] = []
        for _, response in self.connection.receive_available():
            invariant(isinstance(response, ProduceResponse), "a producer's link carries nothing but Produce")
            assert isinstance(response, ProduceResponse)
            on_wire = self._on_wire.popleft()
            answers += read_answer(on_wire.batches, response, topic_names=on_wire.topic_names)
        return answers

    def lose(self) -> list[ProducerBatch]:
        """Close the connection; the batches whose fate is unknown, in order."""
        self.connection.close()
        lost = [batch for on_wire in self._on_wire for batch in on_wire.batches]
        self._on_wire.clear()
        return lost
