"""BrokerCore: the broker without sockets, clocks, files or threads.

The shell (`server/`, or a simulator) gives it requests, the time, and word of what is synced; it gives back replies,
each with the journal position that must be synced before it may leave. Handlers do the work, one function for each
API; this class holds what they share and drives the cycle: handle, begin_commit, (write and sync elsewhere),
finish_commit, tick.
"""

import base64
import logging
from collections.abc import Callable, Mapping
from uuid import UUID

from fencepost.broker.call import Call, Outcome, Peer, Reply
from fencepost.broker.catalogue import (
    OFFSETS_TOPIC,
    TRANSACTION_TOPIC,
    CatalogueRecord,
    Topic,
    decide_create_topic,
    encode_record,
)
from fencepost.broker.dispatch import dispatch
from fencepost.broker.fetch_sessions import FetchSessions
from fencepost.broker.fetching import retry_fetches
from fencepost.broker.group_coordinator import GroupCoordinator
from fencepost.broker.housekeeping import Housekeeping
from fencepost.broker.parked_fetches import ParkedFetches
from fencepost.broker.partition_log import LogWriter, PartitionLog
from fencepost.broker.state import BrokerState, load_checkpoint
from fencepost.broker.transaction_coordinator import TransactionCoordinator
from fencepost.errors import InvariantBroken, Refusal
from fencepost.groups.apply import resume_members
from fencepost.groups.deletion import decide_partitions_deleted
from fencepost.journal.journal import CommitGroup, Journal
from fencepost.partition.apply import apply_synced
from fencepost.records.record import Record
from fencepost.settings import BrokerSettings
from fencepost.transactions.ending import decide_recovery
from fencepost.types import Now, TopicPartition

logger = logging.getLogger("fencepost.broker")

CLUSTER_ID_BYTES = 16

LISTENER_UNKNOWN = ("", 0)
MEMBER_ID_PREFIX_CHARACTERS_MAX = 1000


class BrokerCore:
    def __init__(self, journal: Journal, settings: BrokerSettings, *, random_bytes: Callable[[int], bytes]) -> None:
        self.journal = journal
        self.settings = settings
        self.random_bytes = random_bytes
        self.state = BrokerState(settings, new_member_id=self.new_member_id)
        self.writer = LogWriter(journal)
        self.transactions = TransactionCoordinator(self)
        self.groups = GroupCoordinator(self)
        self.fetch_sessions = FetchSessions(settings.max_incremental_fetch_session_cache_slots)
        self.parked_fetches = ParkedFetches()
        self.housekeeping = Housekeeping(self)
        self.listener = LISTENER_UNKNOWN
        self.log_dir = ""
        """Where the journal lies, as administrators see it; only the shell knows."""
        self._outbox: list[tuple[Call, Reply]] = []

    # Life

    def recover(self, now: Now) -> None:
        """Rebuild the state from the journal and finish what a crash left half done."""
        recover(self, now)
        self.housekeeping.start(now)

    def advertise(self, *, host: str, port: int) -> None:
        """The address at which clients are to connect."""
        self.listener = (host, port)

    def close(self) -> None:
        """Checkpoint, so that the next start replays nothing, and give the data folder up."""
        self.housekeeping.append_checkpoint()
        self.journal.close()

    # The cycle

    def handle(self, call: Call) -> Outcome:
        return dispatch(self, call)

    def tick(self, now: Now) -> None:
        """Do what the time has come for."""
        for fetch in self.parked_fetches.take_due(now.monotonic_ms):
            retry_fetches(self, [fetch], is_last_try=True)
        self.groups.run_timers(now)
        self.housekeeping.run_due(now)

    def wake_at_ms(self) -> int | None:
        """The monotonic time at which `tick` has something to do."""
        candidates = (
            self.parked_fetches.wake_at_ms,
            self.state.groups.wake_at_ms,
            self.housekeeping.wake_at_ms,
        )
        return min((candidate for candidate in candidates if candidate is not None), default=None)

    @property
    def has_unsynced_entries(self) -> bool:
        return self.journal.last_position > self.journal.synced_position

    @property
    def synced_position(self) -> int:
        return self.journal.synced_position

    def begin_commit(self) -> CommitGroup | None:
        group = self.journal.begin_commit()
        if group is not None:
            self.writer.begin_commit()
        return group

    def finish_commit(self, group: CommitGroup) -> None:
        """The group is on disk: its records become visible, and fetches that waited for them are answered."""
        self.journal.finish_commit(group)
        grown = self.writer.finish_commit()
        retry_fetches(self, self.parked_fetches.waiting_for(grown), is_last_try=False)
        self.housekeeping.after_commit()

    def connection_closed(self, peer: Peer) -> None:
        self.parked_fetches.release_connection(peer.connection_id)

    # What handlers share

    def reply(self, message: object) -> Reply:
        """A reply that shows the state as it is: it leaves when all of that is on disk."""
        return Reply(message, self.journal.last_position)

    def answer_later(self, call: Call, reply: Reply) -> None:
        self._outbox.append((call, reply))

    def take_outbox(self) -> list[tuple[Call, Reply]]:
        outbox, self._outbox = self._outbox, []
        return outbox

    def log_refusal(self, call: Call, transactional_id: str | None, refusal: Refusal) -> None:
        """The explanation of a refusal often has no room in its response; the log always has."""
        client = f"{call.client_id or 'a client'} at {call.peer.address}"
        logger.info(
            "%s, transactional id %r: %s: %s", client, transactional_id, refusal.error_code.name, refusal.message
        )

    def log(self, topic: str, partition: int) -> PartitionLog | None:
        return self.state.logs.get(TopicPartition(topic, partition))

    def append_to_catalogue(self, *records: CatalogueRecord, now_ms: int) -> None:
        self.writer.append_records(self.state.catalogue_log, to_values(*records, now_ms=now_ms))

    def decide_topic(
        self,
        name: str,
        *,
        partition_count: int = -1,
        replication_factor: int = -1,
        overrides: Mapping[str, str] | None = None,
    ) -> CatalogueRecord | Refusal:
        """The record that creates a topic, with the broker's defaults where -1 is given."""
        settings = self.settings
        return decide_create_topic(
            self.state.catalogue,
            name,
            topic_id=self.new_topic_id(),
            partition_count=settings.num_partitions if partition_count == -1 else partition_count,
            replication_factor=settings.default_replication_factor if replication_factor == -1 else replication_factor,
            overrides=overrides or {},
        )

    def create_topic(self, record: CatalogueRecord, *, now_ms: int) -> Topic:
        """Create what `decide_topic` allowed."""
        self.append_to_catalogue(record, now_ms=now_ms)
        topic = self.state.catalogue.topics[record["name"]]
        if topic.replication_factor > 1:
            logger.warning("topic %s asks for %d replicas: one copy is kept", topic.name, topic.replication_factor)
        return topic

    def new_topic_id(self) -> UUID:
        return UUID(bytes=self.random_bytes(16), version=4)

    def new_member_id(self, prefix: str) -> str:
        """`prefix` is a client's word and may be as long as a stored id; its beginning is enough to recognise it."""
        return f"{prefix[:MEMBER_ID_PREFIX_CHARACTERS_MAX]}-{UUID(bytes=self.random_bytes(16), version=4)}"


def to_values(*records: CatalogueRecord, now_ms: int) -> list[Record]:
    return [Record(timestamp_ms=now_ms, value=encode_record(record)) for record in records]


def recover(core: BrokerCore, now: Now) -> None:
    """From the journal to a broker that can serve: fold everything, then finish what a crash left half done.

    A fresh folder gets its internal topics. Every start gets a new broker epoch: it is the coordinator epoch of the
    markers written from now on, and partitions refuse markers of an older one.
    """
    replay(core)
    _begin_epoch(core, now)
    _create_internal_topics(core, now)
    _forget_offsets_of_deleted_topics(core, now)
    core.state.transactions.coordinator_epoch = core.state.catalogue.broker_epoch
    for decision in decide_recovery(core.state.transactions, now_ms=now.wall_ms):
        core.transactions.run(decision, now_ms=now.wall_ms)
    resume_members(core.state.groups, now)


def replay(core: BrokerCore) -> None:
    """Fold the journal. All of it is on disk, so all of it may be seen."""
    for entry in core.journal.replay():
        if entry.is_checkpoint:
            load_checkpoint(core.state, entry.payload)
        else:
            core.state.fold(entry.partition_ref, entry.payload)
    for log in core.state.logs_by_ref.values():
        apply_synced(log.state, log.state.end_offset)


def _begin_epoch(core: BrokerCore, now: Now) -> None:
    catalogue = core.state.catalogue
    cluster_id = catalogue.cluster_id
    if not cluster_id:
        cluster_id = base64.urlsafe_b64encode(core.random_bytes(CLUSTER_ID_BYTES)).decode().rstrip("=")
    started = {"kind": "broker-started", "epoch": catalogue.broker_epoch + 1, "cluster_id": cluster_id}
    core.append_to_catalogue(started, now_ms=now.wall_ms)


def _forget_offsets_of_deleted_topics(core: BrokerCore, now: Now) -> None:
    """A crash may have kept the deletion of a topic, and not all of the tombstones that followed it."""
    offsets = core.state.groups.offsets
    kept = {partition for _, partition, _ in offsets.all_committed()}
    kept |= {partition for _, _, partition, _ in offsets.all_pending()}
    for decision in decide_partitions_deleted(core.state.groups, kept - core.state.logs.keys()):
        core.groups.run(decision, now=now)


def _create_internal_topics(core: BrokerCore, now: Now) -> None:
    """Their partition counts are fixed by the first start: the hash of an id must always lead to the same partition."""
    counts = {
        OFFSETS_TOPIC: core.settings.offsets_topic_num_partitions,
        TRANSACTION_TOPIC: core.settings.transaction_state_log_num_partitions,
    }
    for name, count in counts.items():
        if name not in core.state.catalogue.topics:
            record = core.decide_topic(name, partition_count=count, overrides={"cleanup.policy": "compact"})
            if isinstance(record, Refusal):
                raise InvariantBroken(f"the internal topic {name} can be created: {record.message}")
            core.create_topic(record, now_ms=now.wall_ms)
