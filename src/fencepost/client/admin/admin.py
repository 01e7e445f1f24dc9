"""Administration of any Kafka cluster: thin calls, each one request or one to each broker; errors are raised,
except those that pass while the cluster elects or loads (`admin_patience.py`).

The calls themselves are plain functions on a `Cluster`: `admin_topics.py`, `admin_groups.py`, `admin_transactions.py`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from fencepost.client.admin import groups as admin_groups
from fencepost.client.admin import topics as admin_topics
from fencepost.client.admin import transactions as admin_transactions
from fencepost.client.admin.groups import GroupDescription
from fencepost.client.admin.topics import BROKER_CHOOSES, EARLIEST, LATEST, NewTopic, Replicas
from fencepost.client.admin.transactions import TransactionDescription
from fencepost.client.cluster import Cluster
from fencepost.client.net.metadata import TopicMetadata
from fencepost.client.settings import ClientSettings, client_settings
from fencepost.client.time_limits import Closing
from fencepost.client.values import AnyOffsets, OffsetAndMetadata, ProducerIdentity
from fencepost.types import TopicPartition
from fencepost.wire.messages.describe_producers import ProducerState
from fencepost.wire.messages.list_groups import ListedGroup
from fencepost.wire.messages.list_transactions import TransactionState


class Admin(Closing):
    def __init__(self, bootstrap_servers: str | Iterable[str], **settings: Any) -> None:
        chosen = client_settings(ClientSettings, settings, kind="admin client")
        self.cluster = Cluster(bootstrap_servers, chosen, allow_auto_topic_creation=False)

    def create_topic(
        self,
        name: str,
        partition_count: int = BROKER_CHOOSES,
        replication_factor: int = BROKER_CHOOSES,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        admin_topics.create_topics(self.cluster, [NewTopic(name, partition_count, replication_factor, settings or {})])

    def create_topics(self, topics: Iterable[NewTopic], *, validate_only: bool = False) -> None:
        admin_topics.create_topics(self.cluster, topics, validate_only=validate_only)

    def delete_topics(self, names: Iterable[str]) -> None:
        admin_topics.delete_topics(self.cluster, names)

    def create_partitions(self, counts: Mapping[str, int]) -> None:
        admin_topics.create_partitions(self.cluster, counts)

    def describe_topics(self, names: Iterable[str] | None = None) -> dict[str, TopicMetadata]:
        return admin_topics.describe_topics(self.cluster, names)

    def topic_replicas(self, name: str) -> dict[int, Replicas]:
        return admin_topics.topic_replicas(self.cluster, name)

    def topic_settings(self, name: str, *, overrides_only: bool = False) -> dict[str, str | None]:
        """What holds for the topic; with `overrides_only` what was set for itself."""
        return admin_topics.topic_settings(self.cluster, name, overrides_only=overrides_only)

    def alter_topic_settings(self, name: str, changes: Mapping[str, str | None]) -> None:
        admin_topics.alter_topic_settings(self.cluster, name, changes)

    def earliest_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return admin_topics.list_offsets(self.cluster, partitions, EARLIEST)

    def latest_offsets(
        self, partitions: Iterable[TopicPartition], *, read_committed: bool = False
    ) -> dict[TopicPartition, int]:
        """The high watermarks, or with `read_committed` the last stable offsets."""
        return admin_topics.list_offsets(self.cluster, partitions, LATEST, read_committed=read_committed)

    def offsets_at(self, partitions: Iterable[TopicPartition], timestamp_ms: int) -> dict[TopicPartition, int]:
        return admin_topics.list_offsets(self.cluster, partitions, timestamp_ms)

    def list_groups(self) -> list[ListedGroup]:
        return admin_groups.list_groups(self.cluster)

    def describe_group(self, group_id: str) -> GroupDescription:
        return admin_groups.describe_group(self.cluster, group_id)

    def delete_groups(self, group_ids: Iterable[str]) -> None:
        admin_groups.delete_groups(self.cluster, group_ids)

    def group_offsets(self, group_id: str, *, require_stable: bool = False) -> dict[TopicPartition, OffsetAndMetadata]:
        return admin_groups.group_offsets(self.cluster, group_id, require_stable=require_stable)

    def alter_group_offsets(self, group_id: str, offsets: AnyOffsets) -> None:
        admin_groups.alter_group_offsets(self.cluster, group_id, offsets)

    def list_transactions(
        self, *, states: Iterable[str] = (), producer_ids: Iterable[int] = (), min_duration_ms: int = -1
    ) -> list[TransactionState]:
        return admin_transactions.list_transactions(
            self.cluster, states=states, producer_ids=producer_ids, min_duration_ms=min_duration_ms
        )

    def describe_transactions(self, *, states: Iterable[str] = ()) -> list[TransactionDescription]:
        """Every transactional id in one of these states, in order; all of them if no state is given."""
        return admin_transactions.describe_transactions(self.cluster, states=states)

    def describe_transaction(self, transactional_id: str) -> TransactionDescription | None:
        return admin_transactions.describe_transaction(self.cluster, transactional_id)

    def await_transaction_end(self, transactional_id: str) -> None:
        """Return when a transaction that is decided has its markers everywhere."""
        admin_transactions.await_transaction_end(self.cluster, transactional_id)

    def describe_producers(self, where: TopicPartition) -> list[ProducerState]:
        return admin_transactions.describe_producers(self.cluster, where)

    def abort_transaction(self, transactional_id: str, *, timeout_ms: int) -> None:
        """Take the id over, which aborts what is open under it and fences its owner."""
        admin_transactions.abort_transaction(self.cluster, transactional_id, timeout_ms=timeout_ms)

    def abort_on_partition(self, where: TopicPartition, identity: ProducerIdentity, *, coordinator_epoch: int) -> None:
        """Write an abort marker past the coordinator: for a transaction that it knows nothing of."""
        admin_transactions.abort_on_partition(self.cluster, where, identity, coordinator_epoch=coordinator_epoch)

    def close(self) -> None:
        self.cluster.close()
