"""A coordinator to play with: does what the broker does with decisions, with clocks that only tests move."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple
from uuid import UUID

from fencepost.broker.call import Call, Peer
from fencepost.errors import ErrorCode
from fencepost.groups.apply import apply_marker, apply_memory, apply_record, resume_members
from fencepost.groups.assignors import TopicImage
from fencepost.groups.checkpoint import dump_state, load_state
from fencepost.groups.classic_join import decide_join
from fencepost.groups.classic_membership import decide_heartbeat, decide_leave, decide_sync
from fencepost.groups.consumer_group import TopicIdPartition, TopicMetadata
from fencepost.groups.consumer_heartbeat import decide_consumer_heartbeat
from fencepost.groups.decision import Decision
from fencepost.groups.deletion import decide_delete_group, decide_offset_delete, decide_partitions_deleted
from fencepost.groups.expiry import decide_expiry
from fencepost.groups.offset_commit import OfferedOffset, decide_offset_commit, decide_txn_offset_commit, fetch_offsets
from fencepost.groups.state import GroupsState
from fencepost.groups.states import ClassicGroupState
from fencepost.groups.timers import decide_timers
from fencepost.settings import BrokerSettings
from fencepost.types import NO_OFFSET, NO_PRODUCER_ID, NO_TOPIC_ID, Now, TopicPartition
from fencepost.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from fencepost.wire.messages.heartbeat import HeartbeatRequest
from fencepost.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from fencepost.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition
from fencepost.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from fencepost.wire.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponsePartitions,
)
from fencepost.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from fencepost.wire.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitRequestPartition

GROUP = "billing"
OFFSETS_PARTITION = 7
SESSION_MS = 10_000
REBALANCE_MS = 60_000
RANGE = [JoinGroupRequestProtocol("range", b"range metadata")]
DAY_MS = 86_400_000


class LogEntry(NamedTuple):
    """What lies in `__consumer_offsets`: a record, or a marker (`is_commit` set)."""

    record_offset: int
    producer_id: int
    key: bytes = b""
    value: bytes | None = None
    is_commit: bool | None = None


class Coordinator:
    def __init__(self, **settings: Any) -> None:
        self.settings = replace(BrokerSettings(group_initial_rebalance_delay_ms=0), **settings)
        self.now = Now(1_700_000_000_000, 1_000)
        self.log: list[LogEntry] = []
        self.answered: dict[int, Any] = {}
        self.topics = TopicImage(0, {})
        self._tokens = count()
        self._ids = count(1)
        self.state = self._fresh()

    def _fresh(self) -> GroupsState:
        return GroupsState(self.settings, lambda prefix: f"{prefix}-{next(self._ids)}")

    def take(self, decision: Decision, *, producer_id: int = NO_PRODUCER_ID) -> None:
        for record in decision.records:
            self._append(LogEntry(len(self.log), producer_id, record.key, record.value))
        apply_memory(self.state, decision)
        for call, message in decision.replies:
            token = call.correlation_id
            assert token not in self.answered, "a request is answered once"
            self.answered[token] = message

    def _append(self, entry: LogEntry) -> None:
        self.log.append(entry)
        fold(self.state, entry)

    def marker(self, producer_id: int, *, is_commit: bool) -> None:
        self._append(LogEntry(len(self.log), producer_id, is_commit=is_commit))

    def advance(self, milliseconds: int) -> None:
        """Let time pass, firing timers when they ask for it, as the broker's loop does."""
        end_ms = self.now.monotonic_ms + milliseconds
        while self.state.wake_at_ms is not None and self.state.wake_at_ms <= end_ms:
            step_ms = max(self.state.wake_at_ms - self.now.monotonic_ms, 0)
            self.now = Now(self.now.wall_ms + step_ms, self.now.monotonic_ms + step_ms)
            for decision in decide_timers(self.state, now=self.now):
                self.take(decision)
        rest_ms = end_ms - self.now.monotonic_ms
        self.now = Now(self.now.wall_ms + rest_ms, end_ms)

    def restart(self, *, checkpoint: bool = False) -> None:
        """Memory is lost; the log, or a checkpoint of it, is read again."""
        dump = dump_state(self.state)
        self.state = self._fresh()
        if checkpoint:
            load_state(self.state, dump)
        else:
            for entry in self.log:
                fold(self.state, entry)
            assert dump_state(self.state) == dump, "recovery is the live path run again"
        resume_members(self.state, self.now)

    def call(self, request: Any, api_version: int, client_id: str = "client") -> Call:
        return Call(0, api_version, next(self._tokens), client_id, Peer(1, "", 0), request, self.now)

    def ask(self, decide: Any, call: Call, **how: Any) -> int:
        """The token says where the answer will be."""
        self.take(decide(self.state, call, **how))
        return call.correlation_id

    def join(self, member_id: str = "", *, api_version: int = 9, **fields: Any) -> int:
        settings = {
            "group_id": GROUP,
            "member_id": member_id,
            "session_timeout_ms": SESSION_MS,
            "rebalance_timeout_ms": REBALANCE_MS,
            "protocol_type": "consumer",
            **fields,
            "protocols": list(fields.get("protocols", RANGE)),
        }
        return self.ask(decide_join, self.call(JoinGroupRequest(**settings), api_version))

    def member_id(self, **fields: Any) -> str:
        """KIP-394: ask for an id."""
        reply = self.answered[self.join(**fields)]
        assert reply.error_code == ErrorCode.MEMBER_ID_REQUIRED
        return reply.member_id

    def sync(
        self,
        member_id: str,
        generation_id: int,
        assignments: dict[str, bytes] | None = None,
        *,
        api_version: int = 5,
        **fields: Any,
    ) -> int:
        settings = {
            "group_id": GROUP,
            "member_id": member_id,
            "generation_id": generation_id,
            "protocol_type": "consumer",
            "protocol_name": "range",
            "assignments": [SyncGroupRequestAssignment(*each) for each in (assignments or {}).items()],
        }
        return self.ask(decide_sync, self.call(SyncGroupRequest(**{**settings, **fields}), api_version))

    def heartbeat(self, member_id: str, generation_id: int, **fields: Any) -> ErrorCode:
        request = HeartbeatRequest(GROUP, generation_id, member_id, **fields)
        return ErrorCode(self.answered[self.ask(decide_heartbeat, self.call(request, 4))].error_code)

    def leave(self, *members: str | MemberIdentity) -> list[ErrorCode]:
        identities = [MemberIdentity(each) if isinstance(each, str) else each for each in members]
        request = LeaveGroupRequest(GROUP, members=identities)
        reply = self.answered[self.ask(decide_leave, self.call(request, 5))]
        return [ErrorCode(member.error_code) for member in reply.members]

    def create_topic(self, name: str, partition_count: int) -> UUID:
        """Also gives an existing topic more partitions."""
        known = self.topics.topics.get(name)
        topic_id = known.topic_id if known is not None else UUID(int=1000 + len(self.topics.topics))
        topics = {**self.topics.topics, name: TopicMetadata(topic_id, partition_count)}
        self.topics = TopicImage(self.topics.version + 1, topics, frozenset({"__consumer_offsets"}))
        return topic_id

    def delete_topic(self, name: str) -> None:
        topics = {other: topic for other, topic in self.topics.topics.items() if other != name}
        self.topics = TopicImage(self.topics.version + 1, topics, self.topics.internal)

    def beat(self, *, api_version: int = 1, **fields: Any) -> ConsumerGroupHeartbeatResponse:
        request = ConsumerGroupHeartbeatRequest(**{"group_id": GROUP, "topic_partitions": None, **fields})
        call = self.call(request, api_version)
        return self.answered[self.ask(decide_consumer_heartbeat, call, topics=self.topics)]

    def stable_group(self, size: int = 3) -> list[str]:
        """A group with this many dynamic members, in generation 1 or later, each with its own id as assignment."""
        ids = [self.member_id() for _ in range(size)]
        self.rebalance(ids)
        return ids

    def rebalance(self, ids: list[str]) -> int:
        """All join, those who were early once more, and syncs; returns the generation."""
        tokens = {member_id: self.join(member_id) for member_id in ids}
        for member_id, token in tokens.items():
            if token in self.answered and self.state.classic[GROUP].state is ClassicGroupState.PREPARING_REBALANCE:
                tokens[member_id] = self.join(member_id)
        replies = [self.answered[token] for token in tokens.values()]
        assert len({reply.generation_id for reply in replies}) == 1
        leader = replies[0].leader
        generation_id = replies[0].generation_id
        syncs = [self.sync(id_, generation_id) for id_ in ids if id_ != leader]
        syncs.append(self.sync(leader, generation_id, {id_: id_.encode() for id_ in ids}))
        assert all(self.answered[token].error_code == ErrorCode.NONE for token in syncs)
        return generation_id

    def commit(
        self,
        offset: int,
        *,
        partition: int = 0,
        topic: str = "purchases",
        topic_id: UUID = NO_TOPIC_ID,
        committed_metadata: str = "",
        api_version: int = 9,
        **fields: Any,
    ) -> ErrorCode:
        offered = OffsetCommitRequestPartition(partition, offset, committed_metadata=committed_metadata)
        request = OffsetCommitRequest(**{"group_id": GROUP, **fields})
        offers = [OfferedOffset(TopicPartition(topic, partition), topic_id, offered)]
        decision, (committed,) = decide_offset_commit(self.state, self.call(request, api_version), offers)
        self.take(decision)
        return committed.error_code

    def txn_commit(
        self, producer_id: int, offset: int, *, partition: int = 0, topic: str = "purchases", **fields: Any
    ) -> ErrorCode:
        request = TxnOffsetCommitRequest(**{"group_id": GROUP, "producer_id": producer_id, **fields})
        offered = TxnOffsetCommitRequestPartition(partition, offset)
        offers = [OfferedOffset(TopicPartition(topic, partition), NO_TOPIC_ID, offered)]
        decision, (committed,) = decide_txn_offset_commit(self.state, self.call(request, 5), offers)
        self.take(decision, producer_id=producer_id)
        return committed.error_code

    def fetch(
        self,
        *,
        partition: int = 0,
        topic: str = "purchases",
        topic_id: UUID = NO_TOPIC_ID,
        require_stable: bool = False,
        **fields: Any,
    ) -> OffsetFetchResponsePartitions:
        topics = [OffsetFetchRequestTopics(topic, topic_id, [partition])]
        request = OffsetFetchRequestGroup(**{"group_id": GROUP, "topics": topics, **fields})
        reply = fetch_offsets(self.state, request, require_stable=require_stable)
        if reply.error_code:
            return OffsetFetchResponsePartitions(partition, NO_OFFSET, error_code=reply.error_code)
        return reply.topics[0].partitions[0]

    def delete_offset(self, *, partition: int = 0, topic: str = "purchases", group_id: str = GROUP) -> ErrorCode:
        topics = [OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(partition)])]
        existing = [TopicPartition(topic, partition)]
        decision, reply = decide_offset_delete(self.state, OffsetDeleteRequest(group_id, topics), existing=existing)
        self.take(decision)
        return ErrorCode(reply.error_code or reply.topics[0].partitions[0].error_code)

    def delete_group(self, group_id: str = GROUP) -> ErrorCode:
        decided = decide_delete_group(self.state, group_id)
        if isinstance(decided, ErrorCode):
            return decided
        self.take(decided)
        return ErrorCode.NONE

    def delete_partitions(self, *partitions: Any) -> None:
        for decision in decide_partitions_deleted(self.state, partitions):
            self.take(decision)

    def expire(self) -> int:
        """Run the sweep; returns how many records it wrote."""
        before = len(self.log)
        for decision in decide_expiry(self.state, now=self.now):
            self.take(decision)
        return len(self.log) - before


class Consumer:
    """A client of a KIP-848 group that follows the protocol: revokes at once, reports what it owns."""

    def __init__(self, coordinator: Coordinator, member_id: str, topics: Sequence[str] = (), **fields: Any) -> None:
        self.coordinator = coordinator
        self.member_id = member_id
        self.fields = {"subscribed_topic_names": list(topics), "rebalance_timeout_ms": REBALANCE_MS, **fields}
        self.member_epoch = 0
        self.owned: frozenset[TopicIdPartition] = frozenset()

    def beat(self, **fields: Any) -> ConsumerGroupHeartbeatResponse:
        """One full heartbeat, and obedience to its answer."""
        instance = {name: self.fields[name] for name in ("instance_id",) if name in self.fields}
        known = {**self.fields} if self.member_epoch == 0 else instance
        request = {
            "member_id": self.member_id,
            "member_epoch": self.member_epoch,
            "topic_partitions": self.reported(),
            **known,
            **fields,
        }
        reply = self.coordinator.beat(**request)
        if reply.error_code == ErrorCode.NONE:
            self.member_epoch = reply.member_epoch
            if reply.assignment is not None:
                topics = reply.assignment.topic_partitions
                self.owned = frozenset(TopicIdPartition(t.topic_id, id_) for t in topics for id_ in t.partitions)
        return reply

    def reported(self) -> list[TopicPartitions]:
        return [TopicPartitions(topic_id, [id_]) for topic_id, id_ in sorted(self.owned)]

    def leave(self, member_epoch: int = -1) -> ErrorCode:
        reply = self.beat(member_epoch=member_epoch, topic_partitions=None)
        self.member_epoch, self.owned = 0, frozenset()
        return ErrorCode(reply.error_code)

    @property
    def partitions(self) -> list[int]:
        """Of a test with one topic: what it owns."""
        return sorted(id_ for _, id_ in self.owned)


def fold(state: GroupsState, entry: LogEntry) -> None:
    if entry.is_commit is not None:
        apply_marker(
            state, offsets_partition=OFFSETS_PARTITION, producer_id=entry.producer_id, is_commit=entry.is_commit
        )
    else:
        apply_record(
            state,
            entry.key,
            entry.value,
            offsets_partition=OFFSETS_PARTITION,
            record_offset=entry.record_offset,
            producer_id=entry.producer_id,
        )
