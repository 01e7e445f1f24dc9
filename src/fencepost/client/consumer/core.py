"""The engine of a consumer: what has to happen between two records, and where the next ones come from.

Everything here runs on the program's own thread, inside its calls. `keep_house` follows the group, looks at answers to
commits, commits automatically, refreshes metadata and finds positions; none of it waits for longer than one request.
Trouble that passes is tried again at the next turn, after a pause.
"""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from uuid import UUID

from fencepost.client.cluster import Cluster
from fencepost.client.consumer.assignment import Assignment, PartitionState
from fencepost.client.consumer.commit import OffsetCommitter
from fencepost.client.consumer.fetcher import Fetcher
from fencepost.client.consumer.group_subscription import Callbacks, GroupSubscription, TopicPattern
from fencepost.client.consumer.positions import check_topic_ids, resolve_positions
from fencepost.client.consumer.record import ConsumerRecord, MakeRecord
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.error_table import Category, category_of, error_of
from fencepost.client.exceptions import ClientError, GroupFenced, IllegalState, RetriableError
from fencepost.client.time_limits import Backoff, Deadline
from fencepost.client.values import ConsumerGroupMetadata, OffsetAndMetadata, Offsets
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition

logger = logging.getLogger("fencepost.client")

WAKEUP_BYTES = 4096
POSITION_TIMEOUT_S = 5.0
"""What one try to find positions may take, however short the poll: cut shorter, a slow broker would never be heard."""
BULK_FETCH_BYTES = 4 * 1024 * 1024
DEFAULT_FETCH_BYTES = ConsumerSettings().max_partition_fetch_bytes
METADATA_PAUSE_S = 1.0
"""Between two questions about a topic that does not exist."""


class ConsumerCore:
    def __init__(self, cluster: Cluster, settings: ConsumerSettings, make_record: MakeRecord) -> None:
        self.cluster = cluster
        self.settings = settings
        self.assignment = Assignment()
        self.subscription: GroupSubscription | None = None
        self.committer: OffsetCommitter | None = None
        if settings.group_id:
            self.committer = OffsetCommitter(
                cluster, settings.group_id, self.identity, self._topic_id, has_moved_on=self._has_moved_on
            )
        self._make_record = make_record
        self._fetcher = Fetcher(cluster, settings, self.assignment)
        self._wakeup, self._waker = os.pipe()
        os.set_blocking(self._wakeup, False)
        os.set_blocking(self._waker, False)
        self._wake_lock = threading.Lock()
        self._is_closed = False
        self._closing: Deadline | None = None
        """When `close` is to be done."""
        self._commit_at_s = time.monotonic() + settings.auto_commit_interval_ms / 1000
        self._pause_until_s = 0.0
        self._refresh_at_s = 0.0
        self._commits_on_revocation = settings.enable_auto_commit
        self._backoff = Backoff(settings)

    # Subscriptions

    def subscribe(self, topics: Iterable[str], callbacks: Callbacks, pattern: TopicPattern | None = None) -> None:
        if not self.settings.group_id:
            raise IllegalState("subscribe needs group_id; assign partitions by hand without one")
        # A topic that a pattern has found and that is deleted must not be created by asking for it.
        self.cluster.allow_auto_topic_creation = self.settings.allow_auto_create_topics and pattern is None
        if self.subscription is not None:
            self.subscription.callbacks = callbacks
            self.subscription.pattern = pattern
            if pattern is None:
                self.subscription.change_topics(topics)
            return
        if len(self.assignment):
            raise IllegalState("partitions were assigned by hand: unsubscribe first")
        self.subscription = GroupSubscription(
            self.cluster,
            self.settings,
            self.assignment,
            topics,
            pattern=pattern,
            callbacks=callbacks,
            before_revocation=self.commit_before_revocation,
            wake=self.wake,
        )

    def unsubscribe(self, deadline: Deadline) -> None:
        subscription = self.subscription
        if subscription is not None:
            try:
                subscription.leave(deadline)
            finally:
                self.subscription = None
                subscription.wait_until_ended(deadline.remaining_s)
        self.assignment.become(())

    def identity(self) -> ConsumerGroupMetadata:
        """Who commits: a member, or anybody where partitions are assigned by hand."""
        if self.subscription is not None:
            return self.subscription.identity()
        return ConsumerGroupMetadata(self.settings.group_id)

    def _has_moved_on(self, generation_id: int) -> bool:
        return self.subscription is not None and self.subscription.has_moved_on(generation_id)

    # Records

    def ready_state(self) -> PartitionState | None:
        """A partition with decoded records, those that had no turn for longest first. Raises a partition's problem."""
        for state in self.assignment:
            if state.is_paused:
                continue
            if state.decode(check_crcs=self.settings.check_crcs):
                return state
            if state.problem is not None:
                raise state.problem
        return None

    def take(self, max_records: int) -> list[ConsumerRecord]:
        """What is here already, up to so many. A problem behind some records waits for the next call."""
        records: list[ConsumerRecord] = []
        try:
            with self.handing_out():
                while len(records) < max_records and (state := self.ready_state()) is not None:
                    self._take_from(state, records, max_records)
        except ClientError:
            if not records:
                raise
        return records

    @contextlib.contextmanager
    def handing_out(self) -> Iterator[None]:
        """An interrupt, or memory that is used up: what was taken until then is not handed out, and is read again."""
        before = [(state, state.position) for state in self.assignment]
        try:
            yield
        except ClientError:
            raise
        except BaseException:
            for state, position in before:
                if position is not None and state.position != position:
                    state.move_to(position)
            raise

    def take_one(self, state: PartitionState) -> ConsumerRecord:
        record = self._make_record(state.topic_partition, state.decoded[0])
        state.decoded.popleft()
        state.position = record.offset + 1
        state.was_consumed = True
        return record

    def advance(self, deadline: Deadline) -> None:
        """Send what can be asked for, and wait for something to arrive or to happen."""
        self._fetcher.send()
        limit_s = self.settings.retry_backoff_ms / 1000 if self.assignment.unresolved() else deadline.remaining_s
        self._fetcher.receive(Deadline(deadline.at_most(limit_s)), wakeup=self._wakeup)
        # Asked for before the last answer is decoded: the broker works while we do.
        self._fetcher.send()
        with contextlib.suppress(BlockingIOError):
            os.read(self._wakeup, WAKEUP_BYTES)

    def send(self) -> None:
        """Ask for what follows records that are about to be handed out. They must not be lost by a problem with that,
        which is met again when there is nothing left to hand out."""
        try:
            self._fetcher.send()
        except ClientError as problem:
            logger.info("nothing more can be asked for: %s", problem)

    def fetch_in_bulk(self) -> None:
        """For who takes whole answers: more in each, unless the program has said how much."""
        if self.settings.max_partition_fetch_bytes == DEFAULT_FETCH_BYTES:
            self._fetcher.partition_bytes_max = BULK_FETCH_BYTES

    def wake(self) -> None:
        """End the wait of `advance`, from any thread."""
        with self._wake_lock, contextlib.suppress(OSError):
            if not self._is_closed:
                os.write(self._waker, b"\0")

    # House-keeping

    def keep_house(self) -> None:
        if self.committer is not None:
            self.committer.poll()
        if self.subscription is not None:
            self._try(self.subscription.look)
            self.subscription.tell()
        self._commit_automatically()
        self.find_positions()

    def find_positions(self) -> None:
        if time.monotonic() < self._pause_until_s:
            return
        if self._needs_metadata and time.monotonic() >= self._refresh_at_s:
            self._try(self._refresh)
        check_topic_ids(self.cluster, self.settings, self.assignment)
        if states := self.assignment.unresolved():
            limit = Deadline(min(POSITION_TIMEOUT_S, self.settings.request_timeout_ms / 1000))
            self._try(lambda: resolve_positions(self.cluster, self.settings, states, limit))

    def positions(self) -> Offsets:
        """Every position that is known."""
        return {
            state.topic_partition: OffsetAndMetadata(state.position)
            for state in self.assignment
            if state.position is not None
        }

    def commit_before_revocation(self) -> None:
        if self._commits_on_revocation and self.committer is not None:
            limit = self._closing or Deadline(self.settings.default_api_timeout_ms / 1000)
            with contextlib.suppress(GroupFenced, RetriableError):
                self.committer.commit_sync(self.positions(), limit)

    def close(self, deadline: Deadline, *, commits: bool) -> None:
        subscription = self.subscription
        self._commits_on_revocation = self._commits_on_revocation and commits
        self._closing = deadline
        try:
            if subscription is not None:
                subscription.leave(deadline)
            else:
                self.commit_before_revocation()
            if self.committer is not None:
                self.committer.finish(deadline)
        finally:
            self._fetcher.close()
            self.cluster.close()
            if subscription is not None:
                subscription.wait_until_ended(max(1.0, deadline.remaining_s))
            with self._wake_lock:  # the descriptors may be given to another file from here on
                self._is_closed = True
                os.close(self._wakeup)
                os.close(self._waker)

    def _take_from(self, state: PartitionState, records: list[ConsumerRecord], max_records: int) -> None:
        try:
            for _ in range(min(max_records - len(records), len(state.decoded))):
                records.append(self.take_one(state))
        finally:
            self.assignment.rotate(state.topic_partition)

    def _commit_automatically(self) -> None:
        if not self.settings.enable_auto_commit or time.monotonic() < self._commit_at_s:
            return
        self._commit_at_s = time.monotonic() + self.settings.auto_commit_interval_ms / 1000
        if self.committer is not None and (positions := self.positions()):
            self.committer.commit_async(positions, None, Deadline(self.settings.request_timeout_ms / 1000))

    @property
    def _needs_metadata(self) -> bool:
        if self.cluster.needs_refresh:
            return bool(self._topics())
        known = self.cluster.metadata.topics
        return any(topic not in known or not known[topic].partitions for topic in self._topics())

    def _refresh(self) -> None:
        """Ask for the topics; raises what waiting does not mend, such as a topic that we may not see."""
        known = self.cluster.refresh(self._topics(), is_all=True).topics
        if self._needs_metadata:
            self._refresh_at_s = time.monotonic() + METADATA_PAUSE_S
        for topic in self._topics():
            code = known[topic].error_code if topic in known else ErrorCode.NONE
            if code and category_of(code, "Metadata") is not Category.RETRIABLE:
                raise error_of(code, "Metadata", what=f"topic '{topic}'")

    def _topics(self) -> list[str]:
        topics = dict.fromkeys(self.subscription.topics if self.subscription is not None else ())
        topics.update(dict.fromkeys(state.topic_partition.topic for state in self.assignment))
        return list(topics)

    def _topic_id(self, topic_partition: TopicPartition) -> UUID:
        """Of the topic that is read, which may have been deleted since; of the one that there is if it is not read."""
        state = self.assignment.get(topic_partition)
        return self.cluster.metadata.topic_id(topic_partition.topic) if state is None else state.topic_id

    def _try(self, action: Callable[[], None]) -> None:
        try:
            action()
            self._backoff.reset()
        except RetriableError:
            self._pause()

    def _pause(self) -> None:
        self._pause_until_s = time.monotonic() + self._backoff.next_pause_s()
