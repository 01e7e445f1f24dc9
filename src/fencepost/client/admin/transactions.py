"""Transactions and the producers behind them, as calls on a cluster."""

import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fencepost.client.admin.asking import ClusterCalls, check_code, leaders_of, patient
from fencepost.client.cluster import Cluster, CoordinatorType
from fencepost.client.exceptions import RetriableError, Timeout
from fencepost.client.net.metadata import Node
from fencepost.client.time_limits import Backoff, Deadline
from fencepost.client.transaction_control import TransactionControl
from fencepost.client.values import ProducerIdentity, by_topic
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition
from fencepost.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicRequest,
)
from fencepost.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from fencepost.wire.messages.describe_transactions import TransactionState as DescribedTransaction
from fencepost.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from fencepost.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

CALL_TIMEOUT_S = 30.0


class TransactionDescription(NamedTuple):
    transactional_id: str
    state: str
    identity: ProducerIdentity
    timeout_ms: int
    start_time_ms: int
    """-1 while no transaction is open."""
    partitions: list[TopicPartition]


class TransactionCalls(ClusterCalls):
    @patient
    def list_transactions(
        self, *, states: Iterable[str] = (), producer_ids: Iterable[int] = (), min_duration_ms: int = -1
    ) -> list[TransactionState]:
        """Every broker's transactional ids, in order; only those in the given states, of the given producers."""
        request = ListTransactionsRequest(
            state_filters=list(states), producer_id_filters=list(producer_ids), duration_filter=min_duration_ms
        )
        found = {row.transactional_id: row for _, rows in self._listed(request) for row in rows}
        return [found[name] for name in sorted(found)]

    @patient
    def describe_transactions(self, *, states: Iterable[str] = ()) -> list[TransactionDescription]:
        """Every transactional id in one of these states, in order; all of them if no state is given. The broker that
        lists an id coordinates it, so each is asked twice and no more; an id that ends meanwhile is left out."""
        found: list[TransactionDescription] = []
        for node, listed in self._listed(ListTransactionsRequest(state_filters=list(states))):
            if listed:
                request = DescribeTransactionsRequest([row.transactional_id for row in listed])
                rows = self.cluster.call(node, request, DescribeTransactionsResponse).transaction_states
                found += [_description(row) for row in rows if row.error_code == ErrorCode.NONE]
        return sorted(found)

    @patient
    def describe_transaction(self, transactional_id: str) -> TransactionDescription | None:
        """None if the coordinator does not know the id."""
        response = self.cluster.call_coordinator(
            CoordinatorType.TRANSACTION,
            transactional_id,
            DescribeTransactionsRequest(transactional_ids=[transactional_id]),
            DescribeTransactionsResponse,
            deadline=Deadline(CALL_TIMEOUT_S),
        )
        row = response.transaction_states[0]
        if row.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
            return None
        check_code(row.error_code, "DescribeTransactions", f"transactional id '{transactional_id}'")
        return _description(row)

    def await_transaction_end(self, transactional_id: str) -> None:
        """Return when a transaction that is decided has its markers everywhere: a coordinator may answer EndTxn
        before."""
        deadline, backoff = Deadline(CALL_TIMEOUT_S), Backoff(self.cluster.settings)
        while True:
            described = self.describe_transaction(transactional_id)
            if described is None or not described.state.startswith("Prepare"):
                return
            if deadline.has_passed:
                raise Timeout(
                    f"transactional id '{transactional_id}' is still {described.state} after {CALL_TIMEOUT_S:.0f} s"
                )
            time.sleep(deadline.at_most(backoff.next_pause_s()))

    def abort_transaction(self, transactional_id: str, *, timeout_ms: int) -> None:
        """Take the id over, which aborts what is open under it and fences its owner. `timeout_ms` becomes the id's."""
        control = TransactionControl(self.cluster, transactional_id)
        control.init_producer_id(transaction_timeout_ms=timeout_ms, deadline=Deadline(CALL_TIMEOUT_S))

    @patient
    def describe_producers(self, topic_partition: TopicPartition) -> list[ProducerState]:
        """Who has written to a partition, and whose transaction is open there since which offset."""
        row = describe_producers(self.cluster, [topic_partition])[topic_partition]
        check_code(row.error_code, "DescribeProducers", str(topic_partition), row.error_message)
        return row.active_producers

    @patient
    def abort_on_partition(
        self, topic_partition: TopicPartition, identity: ProducerIdentity, *, coordinator_epoch: int
    ) -> None:
        """Write an abort marker past the coordinator: for a transaction that it knows nothing of."""
        (leader,) = leaders_of(self.cluster, [topic_partition], "WriteTxnMarkers")
        marker = WritableTxnMarker(
            producer_id=identity.producer_id,
            producer_epoch=identity.producer_epoch,
            transaction_result=False,
            topics=[WritableTxnMarkerTopic(topic_partition.topic, [topic_partition.partition])],
            coordinator_epoch=max(0, coordinator_epoch),
        )
        response = self.cluster.call(leader, WriteTxnMarkersRequest(markers=[marker]), WriteTxnMarkersResponse)
        for row in response.markers[0].topics[0].partitions:
            check_code(row.error_code, "WriteTxnMarkers", str(topic_partition))

    def _listed(self, request: ListTransactionsRequest) -> Iterator[tuple[Node, list[TransactionState]]]:
        at_least = 1 if request.duration_filter >= 0 else 0
        for node in self.cluster.refresh().brokers.values():
            response = self.cluster.call(node, request, ListTransactionsResponse, at_least=at_least)
            check_code(response.error_code, "ListTransactions", str(node))
            yield node, response.transaction_states


def describe_producers(
    cluster: Cluster, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, PartitionResponse]:
    """What the leader of each partition knows of its producers, or why it does not say; asked once."""
    found = {}
    wanted = list(partitions)
    for node, asked in leaders_of(cluster, wanted, "DescribeProducers").items():
        request = DescribeProducersRequest([TopicRequest(name, indexes) for name, indexes in by_topic(asked).items()])
        for topic in cluster.call(node, request, DescribeProducersResponse).topics:
            found.update({TopicPartition(topic.name, row.partition_index): row for row in topic.partitions})
    if len(found) != len(wanted):
        raise RetriableError(f"a broker answered for {len(found)} of {len(wanted)} partitions")
    return found


def _description(row: DescribedTransaction) -> TransactionDescription:
    return TransactionDescription(
        transactional_id=row.transactional_id,
        state=row.transaction_state,
        identity=ProducerIdentity(row.producer_id, row.producer_epoch),
        timeout_ms=row.transaction_timeout_ms,
        start_time_ms=row.transaction_start_time_ms,
        partitions=[TopicPartition(topic.topic, index) for topic in row.topics for index in topic.partitions],
    )
