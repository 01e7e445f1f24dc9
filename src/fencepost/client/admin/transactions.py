"""Transactions and the producers behind them, as calls on a cluster."""

import time
from collections.abc import Iterable
from typing import NamedTuple

from fencepost.client.admin.asking import patient
from fencepost.client.cluster import Cluster, CoordinatorType
from fencepost.client.error_table import error_of
from fencepost.client.exceptions import Timeout
from fencepost.client.net.metadata import Node
from fencepost.client.time_limits import Backoff, Deadline
from fencepost.client.transaction_control import TransactionControl
from fencepost.client.values import ProducerIdentity
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition
from fencepost.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
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


class TransactionDescription(NamedTuple):
    transactional_id: str
    state: str
    identity: ProducerIdentity
    timeout_ms: int
    start_time_ms: int
    """-1 while no transaction is open."""
    partitions: list[TopicPartition]


@patient
def list_transactions(
    cluster: Cluster, *, states: Iterable[str] = (), producer_ids: Iterable[int] = (), min_duration_ms: int = -1
) -> list[TransactionState]:
    """Every broker's transactional ids, in order; only those in the given states, of the given producers."""
    cluster.refresh()
    request = ListTransactionsRequest(
        state_filters=list(states), producer_id_filters=list(producer_ids), duration_filter=min_duration_ms
    )
    found: dict[str, TransactionState] = {}
    for node in cluster.metadata.brokers.values():
        at_least = 1 if min_duration_ms >= 0 else 0
        response = cluster.call(node, request, ListTransactionsResponse, at_least=at_least)
        if response.error_code:
            raise error_of(response.error_code, "ListTransactions", what=str(node))
        found.update({row.transactional_id: row for row in response.transaction_states})
    return [found[name] for name in sorted(found)]


@patient
def describe_transactions(cluster: Cluster, *, states: Iterable[str] = ()) -> list[TransactionDescription]:
    """Every transactional id in one of these states, in order. The broker that lists an id coordinates it, so each is
    asked twice and no more; an id that ends meanwhile is left out."""
    cluster.refresh()
    found: list[TransactionDescription] = []
    for node in cluster.metadata.brokers.values():
        listed = cluster.call(node, ListTransactionsRequest(state_filters=list(states)), ListTransactionsResponse)
        if listed.error_code:
            raise error_of(listed.error_code, "ListTransactions", what=str(node))
        request = DescribeTransactionsRequest([row.transactional_id for row in listed.transaction_states])
        described = cluster.call(node, request, DescribeTransactionsResponse) if request.transactional_ids else None
        rows = described.transaction_states if described is not None else []
        found += [_description(row) for row in rows if row.error_code == ErrorCode.NONE]
    return sorted(found)


@patient
def describe_transaction(
    cluster: Cluster, transactional_id: str, *, timeout_s: float = 30.0
) -> TransactionDescription | None:
    """None if the coordinator does not know the id."""
    response = cluster.call_coordinator(
        CoordinatorType.TRANSACTION,
        transactional_id,
        DescribeTransactionsRequest(transactional_ids=[transactional_id]),
        DescribeTransactionsResponse,
        deadline=Deadline(timeout_s),
    )
    row = response.transaction_states[0]
    if row.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
        return None
    if row.error_code:
        raise error_of(row.error_code, "DescribeTransactions", what=f"transactional id '{transactional_id}'")
    return _description(row)


def _description(row: DescribedTransaction) -> TransactionDescription:
    return TransactionDescription(
        transactional_id=row.transactional_id,
        state=row.transaction_state,
        identity=ProducerIdentity(row.producer_id, row.producer_epoch),
        timeout_ms=row.transaction_timeout_ms,
        start_time_ms=row.transaction_start_time_ms,
        partitions=[TopicPartition(topic.topic, index) for topic in row.topics for index in topic.partitions],
    )


def await_transaction_end(cluster: Cluster, transactional_id: str, *, timeout_s: float = 30.0) -> None:
    """Return when a transaction that is decided has its markers everywhere: a coordinator may answer EndTxn before."""
    deadline, backoff = Deadline(timeout_s), Backoff(cluster.settings)
    while True:
        described = describe_transaction(cluster, transactional_id, timeout_s=timeout_s)
        if described is None or not described.state.startswith("Prepare"):
            return
        if deadline.has_passed:
            raise Timeout(f"transactional id '{transactional_id}' is still {described.state} after {timeout_s:.0f} s")
        time.sleep(deadline.at_most(backoff.next_pause_s()))


def abort_transaction(cluster: Cluster, transactional_id: str, *, timeout_ms: int, timeout_s: float = 30.0) -> None:
    """Take the id over, which aborts what is open under it and fences its owner. `timeout_ms` becomes the id's own."""
    control = TransactionControl(cluster, transactional_id)
    control.init_producer_id(transaction_timeout_ms=timeout_ms, deadline=Deadline(timeout_s))


@patient
def describe_producers(cluster: Cluster, where: TopicPartition) -> list[ProducerState]:
    """Who has written to a partition, and whose transaction is open there since which offset."""
    leader = _leader(cluster, where, "DescribeProducers")
    request = DescribeProducersRequest(topics=[TopicRequest(where.topic, [where.partition])])
    row = cluster.call(leader, request, DescribeProducersResponse).topics[0].partitions[0]
    if row.error_code:
        raise error_of(row.error_code, "DescribeProducers", what=str(where), explanation=row.error_message)
    return row.active_producers


@patient
def abort_on_partition(
    cluster: Cluster, where: TopicPartition, identity: ProducerIdentity, *, coordinator_epoch: int
) -> None:
    """Write an abort marker to one partition, past the coordinator: for a transaction that it knows nothing of."""
    leader = _leader(cluster, where, "WriteTxnMarkers")
    marker = WritableTxnMarker(
        producer_id=identity.producer_id,
        producer_epoch=identity.producer_epoch,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(where.topic, [where.partition])],
        coordinator_epoch=max(0, coordinator_epoch),
    )
    response = cluster.call(leader, WriteTxnMarkersRequest(markers=[marker]), WriteTxnMarkersResponse)
    for row in response.markers[0].topics[0].partitions:
        if row.error_code:
            raise error_of(row.error_code, "WriteTxnMarkers", what=str(where))


def _leader(cluster: Cluster, where: TopicPartition, api_name: str) -> Node:
    if cluster.needs_refresh or cluster.leader(where) is None:
        cluster.refresh([where.topic])
    leader = cluster.leader(where)
    if leader is None:
        raise error_of(ErrorCode.LEADER_NOT_AVAILABLE, api_name, what=str(where))
    return leader
