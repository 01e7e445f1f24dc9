"""Brings records from the leaders: one request in flight to each broker, the next one sent before the last is decoded.

No thread: while the program works on records, the next answer gathers in the socket. A broker is asked again as long
as none of its partitions has more than one answer waiting here, so memory is bound by two answers for each broker and
one busy partition cannot shut out the others.
"""

import select
import time

from fencepost.client.cluster import Cluster
from fencepost.client.consumer.assignment import Assignment, PartitionState
from fencepost.client.consumer.fetch_chunk import FetchChunk
from fencepost.client.consumer.fetch_session import FetchTarget, NodeFetcher, Targets, is_same_topic
from fencepost.client.consumer.positions import reset
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.error_table import REFRESH_METADATA, Category, category_of, error_of
from fencepost.client.exceptions import RetriableError
from fencepost.client.net.metadata import Node, TopicMetadata
from fencepost.client.time_limits import Backoff, Deadline
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition
from fencepost.wire.messages.fetch import PartitionData

CHUNKS_WAITING_MAX = 1


class Fetcher:
    def __init__(self, cluster: Cluster, settings: ConsumerSettings, assignment: Assignment) -> None:
        self._cluster = cluster
        self._settings = settings
        self._assignment = assignment
        self._nodes: dict[Node, NodeFetcher] = {}
        self._not_before_s: dict[Node, float] = {}
        self._leaders_backoff = Backoff(settings)
        self._leaders_not_before_s = 0.0
        self.partition_bytes_max = settings.max_partition_fetch_bytes

    def send(self) -> None:
        """Put a request on its way to every broker that can be asked."""
        for node, targets in self._targets().items():
            fetcher = self._nodes.get(node)
            if fetcher is not None and fetcher.is_waiting:
                if not self._is_outdated(fetcher):
                    continue
                # It may wait at the end of the partition for half a second while the program wants what it sought.
                self._drop(node)
            if not targets or self._has_plenty(targets):
                continue
            try:
                if node not in self._nodes:
                    self._nodes[node] = NodeFetcher(self._cluster, node, self._settings)
                self._nodes[node].send(targets)
            except RetriableError:
                self._lose(node)

    def receive(self, deadline: Deadline, *, wakeup: int) -> None:
        """Take what arrives; waits for it, or for a word at the file descriptor `wakeup`, until the deadline."""
        poller = select.poll()
        poller.register(wakeup, select.POLLIN)
        waiting = {}
        for node, fetcher in list(self._nodes.items()):
            if fetcher.is_lost:
                self._lose(node)
            elif fetcher.is_waiting:
                waiting[fetcher.connection.fileno()] = node
                poller.register(fetcher.connection.fileno(), select.POLLIN)
        limit = Deadline(deadline.at_most(self._settings.fetch_max_wait_ms / 1000))
        has_something = False
        while not has_something:
            ready = poller.poll(limit.remaining_s * 1000)
            for descriptor, _ in ready:
                has_something |= descriptor not in waiting or self._receive_from(waiting[descriptor])
            if limit.has_passed:
                break

    def close(self) -> None:
        for node in list(self._nodes):
            self._drop(node)

    def _receive_from(self, node: Node) -> bool:
        """Take what is there of an answer; whether it is whole, or none will come."""
        fetcher = self._nodes[node]
        try:
            response = fetcher.receive()
        except RetriableError:
            self._lose(node)
            return True
        if response is not None:
            names = {target.topic_id: topic for (topic, _), target in fetcher.targets.items()}
            for topic in response.responses:
                name = topic.topic or names.get(topic.topic_id, "")
                for row in topic.partitions:
                    self.take_answer(TopicPartition(name, row.partition_index), row, fetcher.targets)
        return not fetcher.is_waiting

    def take_answer(self, topic_partition: TopicPartition, answer: PartitionData, targets: Targets) -> None:
        """Act upon one partition's answer, unless it is to a question that is no longer asked."""
        state, target = self._assignment.get(topic_partition), targets.get(topic_partition)
        if state is None or target is None or state.position is None or not _is_still_asked(state, target):
            return
        code = answer.error_code
        if code == ErrorCode.NONE:
            state.last_stable_offset = answer.last_stable_offset
            chunk = FetchChunk.of_answer(topic_partition, answer, fetch_offset=state.fetch_offset)
            if chunk is not None and not chunk.is_empty:
                state.keep(chunk)
            if chunk is not None and chunk.damage is not None:
                state.problem = chunk.damage
        elif code == ErrorCode.OFFSET_OUT_OF_RANGE:
            if not state.has_something:
                reset(state, self._settings, f"offset {state.position} is out of range")
        elif category_of(code, "Fetch") is Category.RETRIABLE and code != ErrorCode.CORRUPT_MESSAGE:
            state.not_before_s = time.monotonic() + self._settings.retry_backoff_ms / 1000
            if code in REFRESH_METADATA:
                self._cluster.mark_stale()
        else:
            state.problem = error_of(code, "Fetch", what=f"{topic_partition} at offset {state.fetch_offset}")

    def _targets(self) -> dict[Node, Targets]:
        """What to ask whom for, brokers with nothing to ask for included if a request to them is in flight."""
        now_s = time.monotonic()
        targets: dict[Node, Targets] = {node: {} for node in self._nodes}
        # One look: other threads refresh the metadata, and two looks may not fit each other.
        metadata = self._cluster.metadata
        is_leaderless = False
        for state in self._assignment:
            if state.position is None or state.is_paused or state.problem is not None or state.not_before_s > now_s:
                continue
            node = metadata.leader(state.topic_partition)
            if node is None:
                is_leaderless = True
                continue
            topic = metadata.topics[state.topic_partition.topic]
            # Until the consumer has looked at a new topic's id, its offsets are those of the old one.
            if self._not_before_s.get(node, 0.0) <= now_s and is_same_topic(state.topic_id, topic.topic_id):
                targets.setdefault(node, {})[state.topic_partition] = self._target(state, topic)
        self._look_for_leaders(is_leaderless, now_s)
        return targets

    def _look_for_leaders(self, is_leaderless: bool, now_s: float) -> None:
        """Have the cluster asked who leads, with pauses: every question holds up the program's next poll."""
        if not is_leaderless:
            self._leaders_backoff.reset()
        elif now_s >= self._leaders_not_before_s:
            self._cluster.mark_stale()
            self._leaders_not_before_s = now_s + self._leaders_backoff.next_pause_s()

    def _target(self, state: PartitionState, topic: TopicMetadata) -> FetchTarget:
        return FetchTarget(
            topic_id=topic.topic_id,
            fetch_offset=state.fetch_offset,
            leader_epoch=topic.partitions[state.topic_partition.partition].leader_epoch,
            max_bytes=self.partition_bytes_max,
        )

    def _has_plenty(self, targets: Targets) -> bool:
        return any(len(self._assignment[topic_partition].chunks) > CHUNKS_WAITING_MAX for topic_partition in targets)

    def _is_outdated(self, fetcher: NodeFetcher) -> bool:
        """Whether the program has sought another place since the request left, or the topic is another one."""
        for topic_partition, target in fetcher.targets.items():
            state = self._assignment.get(topic_partition)
            if state is not None and state.position is not None and not _is_still_asked(state, target):
                return True
        return False

    def _lose(self, node: Node) -> None:
        """The broker cannot be reached: look where the leaders are, and give it a pause."""
        self._drop(node)
        self._cluster.mark_stale()
        self._not_before_s[node] = time.monotonic() + self._settings.retry_backoff_ms / 1000

    def _drop(self, node: Node) -> None:
        fetcher = self._nodes.pop(node, None)
        if fetcher is not None:
            fetcher.connection.close()


def _is_still_asked(state: PartitionState, target: FetchTarget) -> bool:
    """Whether this is what the partition wants by now: a new topic of the same name begins at the same offset 0."""
    return state.fetch_offset == target.fetch_offset and is_same_topic(state.topic_id, target.topic_id)
