"""The partitions that a consumer reads: where it stands in each, what waits to be handed out, what is paused.

Pure. Two offsets move through a partition: `position`, the next record that the program gets, and ahead of it
`fetch_offset`, the next to ask the broker for. Between them lie `decoded` records and `chunks` of bytes. A seek moves
both and drops what lay between, so an answer to an older request no longer fits and is ignored.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from uuid import UUID

from fencepost.client.consumer.fetch_chunk import FetchChunk
from fencepost.client.exceptions import ClientError, IllegalState
from fencepost.records.record import Record
from fencepost.types import TopicPartition
from fencepost.wire.reading import ZERO_UUID


class Start(Enum):
    """Where a partition without a position is to be read from."""

    COMMITTED = auto()
    EARLIEST = auto()
    LATEST = auto()


class PartitionState:
    __slots__ = (
        "chunks",
        "decoded",
        "fetch_offset",
        "first_position",
        "is_paused",
        "last_stable_offset",
        "not_before_s",
        "position",
        "problem",
        "start",
        "topic_id",
        "topic_partition",
        "was_consumed",
    )

    def __init__(self, topic_partition: TopicPartition, start: Start = Start.COMMITTED) -> None:
        self.topic_partition = topic_partition
        self.topic_id: UUID = ZERO_UUID
        self.position: int | None = None
        self.first_position: int | None = None
        """Where reading began, as far back as it went: where `seek_to_committed` leads while nothing is committed."""
        self.fetch_offset = 0
        self.start = start
        """What to resolve while `position` is None."""
        self.decoded: deque[Record] = deque()
        self.chunks: deque[FetchChunk] = deque()
        self.is_paused = False
        self.was_consumed = False
        """Records were handed out since the program stood at the committed offset, wherever it has sought to since."""
        self.not_before_s = 0.0
        """Not to be asked for before this moment, after an error."""
        self.problem: ClientError | None = None
        """What to raise instead of records, once those before it are handed out."""
        self.last_stable_offset: int | None = None

    @property
    def has_something(self) -> bool:
        return bool(self.decoded or self.chunks)

    def move_to(self, offset: int) -> None:
        self.drop()
        self.position = self.fetch_offset = offset
        self.first_position = offset if self.first_position is None else min(self.first_position, offset)

    def seek(self, offset: int) -> None:
        """The program's own choice: reading begins there, unless it has begun already."""
        self._begin_anew()
        self.move_to(offset)

    def start_from(self, start: Start) -> None:
        self.drop()
        self.position = None
        self.start = start
        if start is Start.COMMITTED:
            self.was_consumed = False
        else:
            self._begin_anew()

    def _begin_anew(self) -> None:
        if not self.was_consumed:
            self.first_position = None

    def keep(self, chunk: FetchChunk) -> None:
        self.chunks.append(chunk)
        self.fetch_offset = chunk.next_offset

    def decode(self, *, check_crcs: bool) -> bool:
        """Whether there are decoded records, after a look at the chunks. Moves past batches that are not for us."""
        while not self.decoded and self.chunks:
            chunk = self.chunks[0]
            if chunk.is_empty:
                self.chunks.popleft()
            else:
                self.decoded.extend(chunk.next_batch(check_crcs=check_crcs))
            if not self.decoded and self.position is not None:
                self.position = max(self.position, chunk.position)
        return bool(self.decoded)

    def drop(self) -> None:
        """Forget what was fetched."""
        self.decoded.clear()
        self.chunks.clear()
        self.problem = None
        self.not_before_s = 0.0


class Assignment:
    """States by partition, in the order of assignment; whose turn it is rotates, so that no partition starves."""

    def __init__(self) -> None:
        self._states: dict[TopicPartition, PartitionState] = {}
        self.taken_away_count = 0
        """How many partitions have left after records of them were handed out."""

    def __iter__(self) -> Iterator[PartitionState]:
        return iter(list(self._states.values()))

    def __len__(self) -> int:
        return len(self._states)

    def __contains__(self, topic_partition: object) -> bool:
        return topic_partition in self._states

    @property
    def partitions(self) -> list[TopicPartition]:
        return list(self._states)

    def get(self, topic_partition: TopicPartition) -> PartitionState | None:
        return self._states.get(topic_partition)

    def __getitem__(self, topic_partition: TopicPartition) -> PartitionState:
        state = self._states.get(topic_partition)
        if state is None:
            raise IllegalState(f"{TopicPartition(*topic_partition)} is not assigned to this consumer")
        return state

    def become(self, partitions: Iterable[TopicPartition]) -> None:
        """Exactly these partitions; those that stay keep their place."""
        wanted = dict.fromkeys(TopicPartition(*topic_partition) for topic_partition in partitions)
        for topic_partition, state in self._states.items():
            if topic_partition not in wanted:
                state.drop()
                self.taken_away_count += state.was_consumed
        self._states = {
            topic_partition: self._states.get(topic_partition) or PartitionState(topic_partition)
            for topic_partition in wanted
        }

    def rotate(self, topic_partition: TopicPartition) -> None:
        """This one had its turn: it goes to the end."""
        state = self._states.pop(topic_partition, None)
        if state is not None:
            self._states[topic_partition] = state

    def unresolved(self) -> list[PartitionState]:
        return [state for state in self._states.values() if state.position is None and state.problem is None]
