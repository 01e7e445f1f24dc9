"""From the journal to a broker that can serve: fold everything, then finish what a crash left half done.

A fresh folder gets its internal topics. Every start gets a new broker epoch: it is the coordinator epoch of the markers
written from now on, and partitions refuse markers of an older one.
"""

import base64
from typing import TYPE_CHECKING

from fencepost.broker.call import Now
from fencepost.broker.catalogue import OFFSETS_TOPIC, TRANSACTION_TOPIC
from fencepost.broker.checkpoint import load_checkpoint
from fencepost.errors import InvariantBroken, Refusal
from fencepost.groups.apply import resume_members
from fencepost.groups.deletion import decide_partitions_deleted
from fencepost.partition.apply import apply_synced
from fencepost.transactions.recovery import decide_recovery

if TYPE_CHECKING:
    from fencepost.broker.core import BrokerCore

CLUSTER_ID_BYTES = 16


def recover(core: "BrokerCore", now: Now) -> None:
    replay(core)
    _begin_epoch(core, now)
    _create_internal_topics(core, now)
    _forget_offsets_of_deleted_topics(core, now)
    core.transactions.start()
    for decision in decide_recovery(core.state.transactions, settings=core.transactions.settings, now_ms=now.wall_ms):
        core.transactions.run(decision, now_ms=now.wall_ms)
    resume_members(core.state.groups, now)


def replay(core: "BrokerCore") -> None:
    """Fold the journal. All of it is on disk, so all of it may be seen."""
    for entry in core.journal.replay():
        if entry.is_checkpoint:
            load_checkpoint(core.state, entry.payload)
        else:
            core.state.fold(entry.partition_ref, entry.payload)
    for log in core.state.logs_by_ref.values():
        apply_synced(log.state, log.state.end_offset)


def _begin_epoch(core: "BrokerCore", now: Now) -> None:
    catalogue = core.state.catalogue
    cluster_id = catalogue.cluster_id
    if not cluster_id:
        cluster_id = base64.urlsafe_b64encode(core.random_bytes(CLUSTER_ID_BYTES)).decode().rstrip("=")
    started = {"kind": "broker-started", "epoch": catalogue.broker_epoch + 1, "cluster_id": cluster_id}
    core.append_to_catalogue(started, now_ms=now.wall_ms)


def _forget_offsets_of_deleted_topics(core: "BrokerCore", now: Now) -> None:
    """A crash may have kept the deletion of a topic, and not all of the tombstones that followed it."""
    offsets = core.state.groups.offsets
    kept = {partition for _, partition, _ in offsets.all_committed()}
    kept |= {partition for _, _, partition, _ in offsets.all_pending()}
    for decision in decide_partitions_deleted(core.state.groups, kept - core.state.logs.keys()):
        core.groups.run(decision, now=now)


def _create_internal_topics(core: "BrokerCore", now: Now) -> None:
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
