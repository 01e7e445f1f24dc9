"""Types that every room shares."""

from typing import NamedTuple
from uuid import UUID

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
NO_TIMESTAMP = -1
NO_OFFSET = -1
NO_TOPIC_ID = UUID(int=0)

Buffer = bytes | bytearray | memoryview


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class ProducerIdentity(NamedTuple):
    """Who writes: every record batch and every request about a transaction carries it."""

    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH

    def __str__(self) -> str:
        return f"producer id {self.producer_id} epoch {self.producer_epoch}"


NO_IDENTITY = ProducerIdentity()


class OffsetRange(NamedTuple):
    """Half-open: `start_offset` is inside, `end_offset` is not."""

    start_offset: int
    end_offset: int

    def __len__(self) -> int:
        return max(0, self.end_offset - self.start_offset)

    def __contains__(self, offset: object) -> bool:
        return isinstance(offset, int) and self.start_offset <= offset < self.end_offset


class Now(NamedTuple):
    """Two clocks, read once per event. Deadlines are monotonic: a step of the wall clock expires nothing."""

    wall_ms: int
    monotonic_ms: int
