"""Open transactions as the partitions see them: where readers wait, for whom, and who waits there.

A partition whose last stable offset is below its end has one open. The partition knows the producer; the coordinator
knows the id behind it, since when and until when. One that only the partition knows is *hanging*: nobody will end it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from fencepost.cli.txn_history import last_client, read_history
from fencepost.client.admin import Admin
from fencepost.client.admin_transactions import TransactionDescription
from fencepost.client.exceptions import Authorization, UnstableOffsetCommit
from fencepost.client.time_limits import Deadline
from fencepost.client.values import ProducerIdentity
from fencepost.java_hash import partition_for
from fencepost.types import TopicPartition
from fencepost.wire.messages.describe_producers import ProducerState

OFFSETS_TOPIC = "__consumer_offsets"
PATIENCE_S = 60.0
ENDED = ("Empty", "CompleteCommit", "CompleteAbort", "Dead")


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    topic_partition: TopicPartition
    first_offset: int
    last_stable_offset: int
    end_offset: int
    identity: ProducerIdentity
    coordinator_epoch: int
    last_timestamp_ms: int
    described: TransactionDescription | None
    client: str | None

    @property
    def is_hanging(self) -> bool:
        return self.described is None or self.described.state in ENDED

    @property
    def since_ms(self) -> int:
        if self.described is not None and not self.is_hanging and self.described.start_time_ms >= 0:
            return self.described.start_time_ms
        return self.last_timestamp_ms

    @property
    def until_ms(self) -> int | None:
        """When the coordinator aborts it; None: never."""
        if self.described is None or self.is_hanging or self.described.timeout_ms == 2**31 - 1:
            return None
        return self.since_ms + self.described.timeout_ms


def find_open_transactions(admin: Admin, partitions: Iterable[TopicPartition]) -> list[OpenTransaction]:
    """All of the given partitions, those that readers meet first before the others of each partition."""
    wanted = sorted(partitions)
    stable = admin.latest_offsets(wanted, read_committed=True)
    ends = admin.latest_offsets(wanted)
    found = []
    owners = Owners(admin)
    for where in wanted:
        if stable[where] >= ends[where]:
            continue
        producers = [row for row in admin.describe_producers(where) if row.current_txn_start_offset >= 0]
        for row in sorted(producers, key=lambda row: row.current_txn_start_offset):
            described, client = owners.of(row)
            found.append(
                OpenTransaction(
                    topic_partition=where,
                    first_offset=row.current_txn_start_offset,
                    last_stable_offset=stable[where],
                    end_offset=ends[where],
                    identity=ProducerIdentity(row.producer_id, row.producer_epoch),
                    coordinator_epoch=row.coordinator_epoch,
                    last_timestamp_ms=row.last_timestamp,
                    described=described,
                    client=client,
                )
            )
    return found


class Owners:
    """Who is behind a producer id; each is asked for once."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin
        self._known: dict[int, tuple[TransactionDescription | None, str | None]] = {}

    def of(self, producer: ProducerState) -> tuple[TransactionDescription | None, str | None]:
        producer_id = producer.producer_id
        if producer_id not in self._known:
            self._known[producer_id] = self._ask(producer_id)
        return self._known[producer_id]

    def _ask(self, producer_id: int) -> tuple[TransactionDescription | None, str | None]:
        listed = self._admin.list_transactions(producer_ids=[producer_id])
        if not listed:
            return None, None
        transactional_id = listed[0].transactional_id
        described = self._admin.describe_transaction(transactional_id)
        try:
            client = last_client(read_history(self._admin, transactional_id, deadline=Deadline(PATIENCE_S)))
        except Authorization:
            client = None
        return described, client


def waiting_groups(admin: Admin, found: Iterable[OpenTransaction]) -> dict[TopicPartition, dict[str, bool]]:
    """Groups with an offset on each blocked partition, and whether they have read all that they may. On a partition of
    the offsets themselves: groups whose offsets are pending, which wait when they start."""
    stable = {each.topic_partition: each.last_stable_offset for each in found}
    groups: dict[TopicPartition, dict[str, bool]] = {where: {} for where in stable}
    if not stable:
        return groups
    # Kafka makes this topic for the first group that it hears of; without it there are none to list.
    offsets_topic = admin.describe_topics().get(OFFSETS_TOPIC)
    if offsets_topic is None:
        return groups
    for group in admin.list_groups():
        for where, committed in admin.group_offsets(group.group_id).items():
            if where in stable:
                groups[where][group.group_id] = committed.offset >= stable[where]
        home = TopicPartition(OFFSETS_TOPIC, partition_for(group.group_id, offsets_topic.partition_count))
        if home in groups and has_pending_offsets(admin, group.group_id):
            groups[home][group.group_id] = True
    return groups


def has_pending_offsets(admin: Admin, group_id: str) -> bool:
    """Whether an open transaction carries offsets of this group."""
    try:
        admin.group_offsets(group_id, require_stable=True)
    except UnstableOffsetCommit:
        return True
    return False
