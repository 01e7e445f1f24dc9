"""The consumer: records of topics or partitions, in order, committed ones only unless asked otherwise.

with Consumer(bootstrap_servers, topics=["invoices"], group_id="billing") as consumer:
    for record in consumer:
        ...

One thread uses a consumer (only `wakeup` may come from others); callbacks run on that thread, inside `poll`. With a
group a second thread keeps the membership; it ends with `close`. Settings are Kafka's, in snake_case:
`settings.py`. A consumer is not usable in a forked child: make one there.
"""

import functools
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from fencepost.client.cluster import Cluster
from fencepost.client.consumer.assignment import PartitionState, Start
from fencepost.client.consumer.commit import OffsetCommitter, OnCommit
from fencepost.client.consumer.core import ConsumerCore
from fencepost.client.consumer.group_subscription import Callbacks, OnPartitions, TopicPattern
from fencepost.client.consumer.record import ConsumerRecord, record_maker
from fencepost.client.consumer.settings import ConsumerSettings
from fencepost.client.exceptions import IllegalState, Timeout
from fencepost.client.offsets import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    OffsetAndTimestamp,
    committed_offsets,
    count_records,
    list_offsets,
)
from fencepost.client.serializers import Deserializer
from fencepost.client.settings import client_settings
from fencepost.client.time_limits import Deadline
from fencepost.client.values import AnyOffsets, ConsumerGroupMetadata, OffsetAndMetadata, Offsets, normalized_offsets
from fencepost.types import NO_OFFSET, OffsetRange, TopicPartition

if TYPE_CHECKING:
    import pyarrow as pa


CallT = TypeVar("CallT", bound=Callable[..., Any])


class OneUser:
    """The rule that one thread uses a consumer, and only in the process that made it: who is inside at this moment.

    Callbacks may call the consumer again: they are on the same thread.
    """

    __slots__ = ("_depth", "_process_id", "_thread_id", "is_closed")

    def __init__(self) -> None:
        self._process_id = os.getpid()
        self._thread_id: int | None = None
        self._depth = 0
        self.is_closed = False

    @property
    def is_other_process(self) -> bool:
        return os.getpid() != self._process_id

    def enter(self) -> None:
        if self.is_closed:
            raise IllegalState("the consumer is closed")
        if self.is_other_process:
            raise IllegalState(
                "the consumer was made before a fork: make one in this process, sockets cannot be shared"
            )
        thread_id = threading.get_ident()
        if self._thread_id is not None and self._thread_id != thread_id:
            raise IllegalState("another thread is using this consumer: one thread at a time, and `wakeup` from others")
        self._thread_id = thread_id
        self._depth += 1

    def leave(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._thread_id = None


def one_user(call: CallT) -> CallT:
    """For methods of something that has a `_use: OneUser`."""

    @functools.wraps(call)
    def checked(self: Any, *arguments: Any, **named: Any) -> Any:
        self._use.enter()
        try:
            return call(self, *arguments, **named)
        finally:
            self._use.leave()

    return cast(CallT, checked)


CLOSE_TIMEOUT_S = 30.0
ITERATION_PAUSE_S = 1.0
HOUSEKEEPING_S = 0.1
"""Iteration looks after the group this often at least, however slowly the program takes its records."""

AnyPartitions = Iterable[tuple[str, int]]


class Consumer:
    def __init__(
        self,
        bootstrap_servers: str | Iterable[str],
        topics: str | Iterable[str] | None = None,
        *,
        group_id: str | None = None,
        key_deserializer: Deserializer | None = None,
        value_deserializer: Deserializer | None = None,
        **settings: Any,
    ) -> None:
        strategy = settings.get("partition_assignment_strategy")
        if strategy is not None and not isinstance(strategy, str):
            settings["partition_assignment_strategy"] = ",".join(strategy)
        checked = client_settings(ConsumerSettings, {"group_id": group_id, **settings}, kind="consumer")
        self._settings = checked
        self._use = OneUser()
        cluster = Cluster(bootstrap_servers, checked, allow_auto_topic_creation=checked.allow_auto_create_topics)
        self._core = ConsumerCore(cluster, checked, record_maker(key_deserializer, value_deserializer))
        self._is_woken = False
        self._iterated: PartitionState | None = None
        self._records_until_housekeeping = 0
        self._keep_house_at_s = 0.0
        if topics is not None:
            try:
                self.subscribe(topics) if group_id else self._assign_topics(topics)
            except BaseException:
                self.close()
                raise

    # Which partitions

    @one_user
    def subscribe(
        self,
        topics: str | Iterable[str] | None = None,
        on_assigned: OnPartitions | None = None,
        on_revoked: OnPartitions | None = None,
        on_lost: OnPartitions | None = None,
        *,
        pattern: str | re.Pattern[str] | None = None,
    ) -> None:
        """Share these topics with the group, or all that match `pattern`, those that are created later too.

        Callbacks get lists of partitions; see `group_subscription.py`.
        """
        if (topics is None) is (pattern is None):
            raise IllegalState("subscribe takes either topics or a pattern")
        self._core.subscribe(
            () if topics is None else _listed(topics),
            Callbacks(on_assigned, on_revoked, on_lost),
            None if pattern is None else TopicPattern(self._core.cluster, pattern),
        )

    @one_user
    def assign(self, partitions: AnyPartitions) -> None:
        """Read exactly these partitions, whatever others do."""
        if self._core.subscription is not None:
            raise IllegalState("topics are subscribed to: unsubscribe first")
        self._core.assignment.become(TopicPartition(*topic_partition) for topic_partition in partitions)

    @one_user
    def unsubscribe(self) -> None:
        """Leave the group, or drop the partitions that were assigned by hand."""
        self._core.unsubscribe(self._deadline(None))

    @one_user
    def assignment(self) -> list[TopicPartition]:
        return sorted(self._core.assignment.partitions)

    @one_user
    def subscription(self) -> list[str]:
        return list(self._core.subscription.topics) if self._core.subscription is not None else []

    @one_user
    def partitions_for(self, topic: str, timeout: float | None = None) -> list[TopicPartition]:
        found = self._core.cluster.topic(topic, self._deadline(timeout))
        return [TopicPartition(topic, index) for index in sorted(found.partitions)]

    # Records

    @one_user
    def poll(self, timeout: float = 0.0, *, max_records: int | None = None) -> list[ConsumerRecord]:
        """Records as soon as there are some, at most `max.poll.records`; an empty list after `timeout` seconds."""
        limit = self._settings.max_poll_records if max_records is None else max_records
        deadline = Deadline(timeout)
        while True:
            self._core.keep_house()
            if records := self._core.take(limit):
                self._core.send()
                return records
            if self._wait(deadline):
                return self._core.take(limit)

    @one_user
    def poll_arrow(self, timeout: float = 0.0, *, include_headers: bool = False) -> "pa.RecordBatch":
        """Everything that has arrived, with the columns of Spark's `kafka` source; no rows after `timeout` seconds."""
        from fencepost.client.consumer.arrow_reading import take_arrow

        deadline = Deadline(timeout)
        while True:
            self._core.keep_house()
            taken = take_arrow(self._core, include_headers=include_headers)
            if taken.num_rows:
                return taken
            if self._wait(deadline):
                return take_arrow(self._core, include_headers=include_headers)

    def __iter__(self) -> Iterator[ConsumerRecord]:
        return self

    def __next__(self) -> ConsumerRecord:
        """The next record, waited for as long as it takes; the end comes with `close` only."""
        state = self._iterated
        if (
            state is None
            or not state.decoded
            or state.is_paused
            or not self._records_until_housekeeping
            or time.monotonic() >= self._keep_house_at_s
            or self._use.is_other_process
        ):
            state = self._next_state()
        self._records_until_housekeeping -= 1
        return self._core.take_one(state)

    def wakeup(self) -> None:
        """End a wait in `poll` early, from any thread; it returns what is there."""
        self._is_woken = True
        self._core.wake()

    # Where to read

    @one_user
    def seek(self, partition: tuple[str, int], offset: int) -> None:
        """The next record of this partition is the first one at or after `offset`."""
        if offset < 0:
            raise ValueError(f"offset {offset} must not be negative")
        self._core.assignment[TopicPartition(*partition)].seek(offset)

    @one_user
    def seek_to_beginning(self, partitions: AnyPartitions | None = None) -> None:
        for state in self._states(partitions):
            state.start_from(Start.EARLIEST)

    @one_user
    def seek_to_end(self, partitions: AnyPartitions | None = None) -> None:
        """To the end as it is when the position is next needed: the last stable offset for `read_committed`."""
        for state in self._states(partitions):
            state.start_from(Start.LATEST)

    @one_user
    def seek_to_committed(self, partitions: AnyPartitions | None = None) -> None:
        """Back to what the group has committed, or where reading began if it has committed nothing.

        After a transaction was aborted: without this the next one would go on behind the records of the aborted one.
        """
        for state in self._states(partitions):
            state.start_from(Start.COMMITTED)

    @one_user
    def pause(self, partitions: AnyPartitions | None = None) -> None:
        for state in self._states(partitions):
            state.is_paused = True

    @one_user
    def resume(self, partitions: AnyPartitions | None = None) -> None:
        for state in self._states(partitions):
            state.is_paused = False

    @one_user
    def paused(self) -> list[TopicPartition]:
        return sorted(state.topic_partition for state in self._core.assignment if state.is_paused)

    @one_user
    def position(self, partition: tuple[str, int], timeout: float | None = None) -> int:
        """The offset of the next record that this consumer hands out."""
        topic_partition = TopicPartition(*partition)
        deadline = self._deadline(timeout)
        while True:
            state = self._core.assignment[topic_partition]
            if state.problem is not None and not state.has_something:
                raise state.problem
            if state.position is not None:
                return state.position
            if deadline.has_passed:
                raise Timeout(f"the position of {topic_partition} was not found in time")
            self._core.find_positions()
            if state.position is None:
                self._core.advance(Deadline(deadline.at_most(self._settings.retry_backoff_ms / 1000)))

    # Offsets

    @one_user
    def committed(
        self, partitions: AnyPartitions | None = None, timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """What the group has committed, of the given partitions or the assigned ones."""
        asked = self._core.assignment.partitions if partitions is None else [TopicPartition(*it) for it in partitions]
        self._committer()
        return committed_offsets(
            self._core.cluster,
            self._settings.group_id,
            asked,
            self._deadline(timeout),
            is_read_committed=self._settings.is_read_committed,
        )

    @one_user
    def commit_sync(self, offsets: AnyOffsets | None = None, timeout: float | None = None) -> None:
        """Commit these offsets, or all positions, and wait.

        Raises `RebalanceInProgress` if they can be committed after the next `poll`, `CommitFailed` if never.
        """
        given = self._core.positions() if offsets is None else normalized_offsets(offsets)
        self._committer().commit_sync(given, self._deadline(timeout))

    @one_user
    def commit_async(self, offsets: AnyOffsets | None = None, on_commit: OnCommit | None = None) -> None:
        """Commit without waiting. `on_commit(offsets, problem or None)` is called inside a later `poll` or `close`."""
        given = self._core.positions() if offsets is None else normalized_offsets(offsets)
        self._committer().commit_async(given, on_commit, Deadline(self._settings.request_timeout_ms / 1000))

    @property
    def commits_automatically(self) -> bool:
        return self._settings.enable_auto_commit

    @one_user
    def group_metadata(self) -> ConsumerGroupMetadata:
        """Who reads, for `send_offsets_to_transaction`: with it a coordinator refuses a member that was replaced."""
        self._committer()
        if self._settings.enable_auto_commit:
            raise IllegalState(
                "enable.auto.commit=true: offsets would be committed beside the transaction; switch it off"
            )
        return self._core.identity()

    @one_user
    def consumed_offsets(self) -> Offsets:
        """For every assigned partition that records were handed out of: the offset after the last of them, or where
        the program has sought to since."""
        consumed = [state.topic_partition for state in self._core.assignment if state.was_consumed]
        return {topic_partition: OffsetAndMetadata(self.position(topic_partition)) for topic_partition in consumed}

    @property
    def taken_away_count(self) -> int:
        """How many partitions have been taken away after records of them were handed out."""
        return self._core.assignment.taken_away_count

    @one_user
    def offsets_for_times(
        self, timestamps_ms: Mapping[tuple[str, int], int], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first record at or after each time, or None."""
        found = self._list_offsets({TopicPartition(*it): at for it, at in timestamps_ms.items()}, timeout)
        return {
            topic_partition: None if offset.offset == NO_OFFSET else offset for topic_partition, offset in found.items()
        }

    @one_user
    def beginning_offsets(self, partitions: AnyPartitions, timeout: float | None = None) -> dict[TopicPartition, int]:
        return self._offsets_at(partitions, EARLIEST_TIMESTAMP, timeout)

    @one_user
    def end_offsets(self, partitions: AnyPartitions, timeout: float | None = None) -> dict[TopicPartition, int]:
        """Where reading ends at this moment: the last stable offset for `read_committed`, else the high watermark."""
        return self._offsets_at(partitions, LATEST_TIMESTAMP, timeout)

    @one_user
    def lag(self, partitions: AnyPartitions | None = None, timeout: float | None = None) -> dict[TopicPartition, int]:
        """Records that are still to come, by partition: counted, see `count_records` for what that costs."""
        deadline = self._deadline(timeout)
        states = self._states(partitions)
        positions = {state.topic_partition: self.position(state.topic_partition, timeout) for state in states}
        ends = self.end_offsets(positions, timeout)
        return {
            topic_partition: count_records(
                self._core.cluster,
                self._settings,
                topic_partition,
                OffsetRange(position, ends[topic_partition]),
                deadline,
            )
            for topic_partition, position in positions.items()
        }

    # The end

    def close(self, timeout: float = CLOSE_TIMEOUT_S, *, commits: bool = True) -> None:
        """Commit if that is automatic, give the partitions up, leave the group, end the thread."""
        if self._use.is_closed:
            return
        if self._use.is_other_process:
            self._use.is_closed = True
            return
        self._use.enter()
        try:
            self._core.close(Deadline(timeout), commits=commits)
        finally:
            self._use.leave()
            self._use.is_closed = True
            self._iterated = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # What an exception interrupted was handed out, and is not done.
        self.close(commits=kind is None)

    @one_user
    def _assign_topics(self, topics: str | Iterable[str]) -> None:
        self.assign([topic_partition for topic in _listed(topics) for topic_partition in self.partitions_for(topic)])

    def _wait(self, deadline: Deadline) -> bool:
        """Wait for something to happen; True if the time was up before, or `wakeup` was called."""
        is_last_look = deadline.has_passed
        self._core.advance(deadline)
        is_woken, self._is_woken = self._is_woken, False
        return is_last_look or is_woken

    def _next_state(self) -> PartitionState:
        while not self._use.is_closed:
            self._use.enter()
            try:
                self._core.keep_house()
                if self._iterated is not None:
                    self._core.assignment.rotate(self._iterated.topic_partition)
                self._iterated = self._core.ready_state()
                if self._iterated is not None:
                    self._core.send()
                    self._records_until_housekeeping = self._settings.max_poll_records
                    self._keep_house_at_s = time.monotonic() + HOUSEKEEPING_S
                    return self._iterated
                self._core.advance(Deadline(ITERATION_PAUSE_S))
            finally:
                self._use.leave()
        raise StopIteration

    def _states(self, partitions: AnyPartitions | None) -> list[PartitionState]:
        assignment = self._core.assignment
        return (
            list(assignment)
            if partitions is None
            else [assignment[TopicPartition(*topic_partition)] for topic_partition in partitions]
        )

    def _offsets_at(
        self, partitions: AnyPartitions, timestamp_ms: int, timeout: float | None
    ) -> dict[TopicPartition, int]:
        asked = dict.fromkeys((TopicPartition(*it) for it in partitions), timestamp_ms)
        return {topic_partition: found.offset for topic_partition, found in self._list_offsets(asked, timeout).items()}

    def _list_offsets(
        self, timestamps_ms: Mapping[TopicPartition, int], timeout: float | None
    ) -> dict[TopicPartition, OffsetAndTimestamp]:
        return list_offsets(
            self._core.cluster,
            timestamps_ms,
            self._deadline(timeout),
            is_read_committed=self._settings.is_read_committed,
        )

    def _committer(self) -> OffsetCommitter:
        if self._core.committer is None:
            raise IllegalState("this needs group_id: offsets are committed for a group")
        return self._core.committer

    def _deadline(self, timeout: float | None) -> Deadline:
        return Deadline(self._settings.default_api_timeout_ms / 1000 if timeout is None else timeout)


def _listed(topics: str | Iterable[str]) -> list[str]:
    return [topics] if isinstance(topics, str) else list(topics)
