"""Committing offsets outside of transactions: in order, on one connection to the group's coordinator.

`commit_async` puts the request on the wire and returns; its answer is looked at by `poll`, which also calls back.
`commit_sync` waits, and tries again while the coordinator is on the move. Who commits in the middle of a rebalance is
answered with `RebalanceInProgress`, and can commit the same after a `poll` that leaves it the partition. A member that
the group has lost gets `CommitFailed`: its partitions are another member's. So does one whose topic was deleted and
created again: topics go by their ids, and its offsets mean nothing in the other one.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple
from uuid import UUID

from fencepost.client.cluster import Cluster, CoordinatorType
from fencepost.client.error_table import FIND_COORDINATOR_AGAIN, error_of
from fencepost.client.exceptions import ClientError, CommitFailed, Disconnected, RebalanceInProgress, RetriableError
from fencepost.client.net.connection import Connection, InFlight
from fencepost.client.offsets import LAST_VERSION_WITH_NAMES, commit_request
from fencepost.client.time_limits import Deadline, retry
from fencepost.client.values import ConsumerGroupMetadata, Offsets
from fencepost.errors import ErrorCode
from fencepost.types import NO_TOPIC_ID, TopicPartition
from fencepost.wire.message import Message
from fencepost.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse

OnCommit = Callable[[Offsets, "ClientError | None"], None]
Identity = Callable[[], ConsumerGroupMetadata]
"""Asked at every try: who commits, or a raised `CommitFailed` if this consumer may not."""
TopicIdOf = Callable[[TopicPartition], UUID]
"""The id of the topic that was read, or the zero one."""

OFFSET_COMMIT = 8


class Pending(NamedTuple):
    sent: InFlight
    offsets: Offsets
    on_commit: OnCommit | None


class OffsetCommitter:
    def __init__(
        self,
        cluster: Cluster,
        group_id: str,
        identity: Identity,
        topic_id_of: TopicIdOf,
        *,
        has_moved_on: Callable[[int], bool],
    ) -> None:
        self._cluster = cluster
        self._group_id = group_id
        self._identity = identity
        self._has_moved_on = has_moved_on
        self._topic_id_of = topic_id_of
        self._connection: Connection | None = None
        self._pending: deque[Pending] = deque()
        self._told: deque[tuple[OnCommit, Offsets, ClientError | None]] = deque()
        """Calls of the program that are due: made one by one at the end of a call of ours, because they may raise."""

    def commit_async(self, offsets: Offsets, on_commit: OnCommit | None, deadline: Deadline) -> None:
        try:
            sent = self._send(offsets, deadline)
        except (RetriableError, CommitFailed) as problem:
            self._tell(on_commit, offsets, problem)
        else:
            self._pending.append(Pending(sent, offsets, on_commit))

    def commit_sync(self, offsets: Offsets, deadline: Deadline) -> None:
        if not offsets:
            return

        def passes(problem: ClientError) -> bool:
            # A KIP-848 member learns its newer epoch by its next heartbeat, and still owns what it commits.
            is_behind = problem.error_code == ErrorCode.STALE_MEMBER_EPOCH and not deadline.has_passed
            return is_behind or isinstance(problem, RetriableError)

        retry(
            lambda: self._exchange(offsets, deadline),
            self._cluster.settings,
            deadline,
            f"the commit of group '{self._group_id}'",
            is_retriable=passes,
        )
        self._call_back()

    def poll(self) -> None:
        """Look at the answers that have arrived, and call back."""
        if self._pending and self._connection is not None:
            try:
                for sent, response in self._connection.receive_available():
                    self._settle(sent, response)
            except RetriableError as problem:
                self._lose(problem)
        self._call_back()

    def finish(self, deadline: Deadline) -> None:
        """Wait for the answers that are still to come."""
        while self._pending and self._connection is not None and not deadline.has_passed:
            try:
                self._settle(*self._connection.receive())
            except RetriableError as problem:
                self._lose(problem)
        self._call_back()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _exchange(self, offsets: Offsets, deadline: Deadline) -> None:
        try:
            sent = self._send(offsets, deadline)
            assert self._connection is not None
            while True:
                answered, response = self._connection.receive()
                if answered is sent:
                    break
                self._settle(answered, response)
        except RetriableError as problem:
            self._lose(problem)
            raise
        refusal = self._problem_in(sent, response)
        if refusal is not None:
            if refusal.error_code == ErrorCode.UNKNOWN_TOPIC_ID:
                self._refuse_replaced_topics(offsets)
            raise refusal

    def _send(self, offsets: Offsets, deadline: Deadline) -> InFlight:
        topic_ids = {topic_partition.topic: self._topic_id_of(topic_partition) for topic_partition in offsets}
        request = commit_request(offsets, self._identity(), topic_ids)
        if self._connection is None or self._connection.is_closed:
            self._lose(Disconnected(f"the coordinator of group '{self._group_id}' closed the connection"))
            node = self._cluster.coordinator(CoordinatorType.GROUP, self._group_id, deadline)
            try:
                self._connection = self._cluster.connect(node)
            except RetriableError:
                self._cluster.forget_coordinator(CoordinatorType.GROUP, self._group_id)
                raise
        at_most = LAST_VERSION_WITH_NAMES if NO_TOPIC_ID in topic_ids.values() else None
        version = self._connection.versions.choose(OFFSET_COMMIT, at_most=at_most)
        return self._connection.send(request, version=version, timeout_s=deadline.for_request(self._cluster.settings))

    def _settle(self, sent: InFlight, response: Message) -> None:
        if self._pending and self._pending[0].sent is sent:
            pending = self._pending.popleft()
            self._tell(pending.on_commit, pending.offsets, self._problem_in(sent, response))

    def _tell(self, on_commit: OnCommit | None, offsets: Offsets, problem: ClientError | None) -> None:
        if on_commit is not None:
            self._told.append((on_commit, offsets, problem))

    def _call_back(self) -> None:
        # Only those that are due by now: a call that commits again, and is refused again, waits for the next poll.
        for _ in range(len(self._told)):
            on_commit, offsets, problem = self._told.popleft()
            on_commit(offsets, problem)

    def _problem_in(self, sent: InFlight, response: Message) -> ClientError | None:
        """The worst that the answer says: one partition's refusal is the commit's."""
        assert isinstance(sent.request, OffsetCommitRequest)
        assert isinstance(response, OffsetCommitResponse)
        names = {topic.topic_id: topic.name for topic in sent.request.topics}
        for topic in response.topics:
            for row in topic.partitions:
                if row.error_code in FIND_COORDINATOR_AGAIN:
                    self._cluster.forget_coordinator(CoordinatorType.GROUP, self._group_id)
                    self.close()
                if row.error_code:
                    topic_partition = TopicPartition(topic.name or names[topic.topic_id], row.partition_index)
                    if row.error_code == ErrorCode.ILLEGAL_GENERATION and self._has_moved_on(
                        sent.request.generation_id_or_member_epoch
                    ):
                        # On its way the group began another generation, and this member is in that one too.
                        message = f"group '{self._group_id}', {topic_partition}: {RebalanceInProgress.__doc__}"
                        return RebalanceInProgress(message, error_code=ErrorCode.ILLEGAL_GENERATION)
                    return error_of(row.error_code, "OffsetCommit", what=f"group '{self._group_id}', {topic_partition}")
        return None

    def _refuse_replaced_topics(self, offsets: Offsets) -> None:
        try:
            metadata = self._cluster.refresh({topic_partition.topic for topic_partition in offsets})
        except RetriableError:
            return
        for topic_partition in offsets:
            if metadata.topic_id(topic_partition.topic) not in (NO_TOPIC_ID, self._topic_id_of(topic_partition)):
                message = f"group '{self._group_id}', {topic_partition}: the topic was deleted and created again"
                raise CommitFailed(message, error_code=ErrorCode.UNKNOWN_TOPIC_ID)

    def _lose(self, problem: ClientError) -> None:
        """The connection is gone, and with it the answers."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._cluster.forget_coordinator(CoordinatorType.GROUP, self._group_id)
        while self._pending:
            pending = self._pending.popleft()
            self._tell(pending.on_commit, pending.offsets, problem)
