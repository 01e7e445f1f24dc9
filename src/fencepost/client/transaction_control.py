"""The calls about a transaction, each retried until it is answered for good or its time is up. Nothing is remembered.

A transaction is (transactional id, producer id, epoch), and nothing ties it to one connection or process: a holder of
the identity may add partitions, commit offsets and end it. `uses_v2` says which of the two flows the cluster wants
(KIP-890): in the second one brokers add partitions themselves, and ending a transaction gives the next identity.
"""

import math
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from fencepost.client.cluster import Cluster, CoordinatorType
from fencepost.client.error_table import FIND_COORDINATOR_AGAIN, Category, category_of, error_of, known_code
from fencepost.client.exceptions import ClientError, ProducerFenced
from fencepost.client.time_limits import Deadline, retry
from fencepost.client.values import ConsumerGroupMetadata, Offsets, ProducerIdentity
from fencepost.errors import ErrorCode
from fencepost.types import TopicPartition
from fencepost.wire.message import Message
from fencepost.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from fencepost.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from fencepost.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from fencepost.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from fencepost.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from fencepost.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

V2_LEVEL = 2
ADD_PARTITIONS_MAX = 3
"""Later versions are for brokers among themselves."""
END_TXN_V1_MAX, END_TXN_V2 = 4, 5
TXN_OFFSET_COMMIT_V1_MAX, TXN_OFFSET_COMMIT_V2 = 4, 5
GROUP_METADATA_SINCE = 3
CONCURRENT_PAUSE_S = 0.02
"""The previous transaction is a few milliseconds from its end: a longer pause would be felt by every transaction."""
EXPLAIN_TIMEOUT_S = 2.0
OWN_ABORT_STATES = frozenset({"PrepareAbort", "CompleteAbort"})

ResponseT = TypeVar("ResponseT", bound=Message)


def new_producer_id(cluster: Cluster) -> ProducerIdentity:
    """An identity for an idempotent producer without transactions, from any broker. Asked once."""
    response = cluster.call_any(InitProducerIdRequest(transactional_id=None), InitProducerIdResponse)
    if response.error_code:
        raise error_of(response.error_code, "InitProducerId", what="an idempotent producer")
    return ProducerIdentity(response.producer_id, response.producer_epoch)


class TransactionControl:
    def __init__(self, cluster: Cluster, transactional_id: str) -> None:
        self._cluster = cluster
        self.transactional_id = transactional_id

    @property
    def uses_v2(self) -> bool:
        return self._cluster.transaction_version >= V2_LEVEL

    def init_producer_id(
        self, *, transaction_timeout_ms: int, presented: ProducerIdentity | None = None, deadline: Deadline
    ) -> ProducerIdentity:
        """An identity that fences all earlier ones; returns when an earlier transaction of this id is finished.

        Without `presented` this takes over from the owner of the id. With it, only the owner of that identity gets the
        next one: any other is refused with PRODUCER_FENCED (KIP-360).
        """
        asked = InitProducerIdRequest(
            transactional_id=self.transactional_id, transaction_timeout_ms=transaction_timeout_ms
        )
        if presented is not None:
            asked.producer_id, asked.producer_epoch = presented
        response = self._call(asked, InitProducerIdResponse, _error_code, presented, deadline)
        return ProducerIdentity(response.producer_id, response.producer_epoch)

    def add_partitions(
        self, identity: ProducerIdentity, partitions: Iterable[TopicPartition], *, deadline: Deadline
    ) -> None:
        """First flow only: before the first record goes to a partition."""
        topics: dict[str, AddPartitionsToTxnTopic] = {}
        for topic, partition in partitions:
            topics.setdefault(topic, AddPartitionsToTxnTopic(name=topic)).partitions.append(partition)
        asked = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=identity.producer_id,
            v3_and_below_producer_epoch=identity.producer_epoch,
            v3_and_below_topics=list(topics.values()),
        )
        self._call(asked, AddPartitionsToTxnResponse, _partitions_error, identity, deadline, at_most=ADD_PARTITIONS_MAX)

    def add_offsets(self, identity: ProducerIdentity, group_id: str, *, deadline: Deadline) -> None:
        """First flow only: before offsets of a group are committed."""
        asked = AddOffsetsToTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.producer_epoch,
            group_id=group_id,
        )
        self._call(asked, AddOffsetsToTxnResponse, _error_code, identity, deadline)

    def txn_offset_commit(
        self,
        identity: ProducerIdentity,
        group: ConsumerGroupMetadata,
        offsets: Offsets,
        *,
        uses_v2: bool | None = None,
        deadline: Deadline,
    ) -> None:
        """Offsets that become visible with the transaction's records, or never."""
        topics: dict[str, TxnOffsetCommitRequestTopic] = {}
        for (topic, partition), offset in offsets.items():
            row = TxnOffsetCommitRequestPartition(partition, offset.offset, offset.leader_epoch, offset.metadata)
            topics.setdefault(topic, TxnOffsetCommitRequestTopic(name=topic)).partitions.append(row)
        asked = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=group.group_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.producer_epoch,
            generation_id=group.generation_id,
            member_id=group.member_id,
            group_instance_id=group.group_instance_id,
            topics=list(topics.values()),
        )
        v2 = self.uses_v2 if uses_v2 is None else uses_v2
        # Older versions have no room for the member: a coordinator could not refuse one that was replaced.
        at_least = GROUP_METADATA_SINCE if group.member_id or group.generation_id >= 0 else 0
        self._call(
            asked,
            TxnOffsetCommitResponse,
            _offsets_error,
            identity,
            deadline,
            at_most=None if v2 else TXN_OFFSET_COMMIT_V1_MAX,
            at_least=TXN_OFFSET_COMMIT_V2 if v2 else at_least,
            group_id=group.group_id,
        )

    def end_txn(
        self, identity: ProducerIdentity, *, is_commit: bool, uses_v2: bool | None = None, deadline: Deadline
    ) -> ProducerIdentity:
        """Commit or abort. Asking again after a lost answer is safe. Returns the identity of the next transaction."""
        asked = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.producer_epoch,
            committed=is_commit,
        )
        v2 = self.uses_v2 if uses_v2 is None else uses_v2
        response = self._call(
            asked,
            EndTxnResponse,
            _error_code,
            identity,
            deadline,
            at_most=None if v2 else END_TXN_V1_MAX,
            at_least=END_TXN_V2 if v2 else 0,
        )
        if response.producer_id < 0:
            return identity
        return ProducerIdentity(response.producer_id, response.producer_epoch)

    def _call(
        self,
        request: Message,
        response_class: type[ResponseT],
        error_code_of: Callable[[ResponseT], int],
        identity: ProducerIdentity | None,
        deadline: Deadline,
        *,
        at_most: int | None = None,
        at_least: int = 0,
        group_id: str | None = None,
    ) -> ResponseT:
        api_name = type(request).__name__.removesuffix("Request")
        kind = CoordinatorType.TRANSACTION if group_id is None else CoordinatorType.GROUP
        key = self.transactional_id if group_id is None else group_id

        def ask() -> ResponseT:
            response = self._cluster.call_coordinator(
                kind, key, request, response_class, deadline=deadline, at_most=at_most, at_least=at_least
            )
            code = error_code_of(response)
            if code == ErrorCode.NONE:
                return response
            if known_code(code) in FIND_COORDINATOR_AGAIN:
                self._cluster.forget_coordinator(kind, key)
            raise self._refused(api_name, code, identity)

        what = f"transactional id '{self.transactional_id}': a final answer to {api_name}"
        # A request that is still on its way when the caller has given up could arrive in the next transaction.
        return retry(ask, self._cluster.settings, deadline, what, pause_max_s=_pause_max_s, leaves_time=True)

    def _refused(self, api_name: str, error_code: int, identity: ProducerIdentity | None) -> ClientError:
        whose = "" if identity is None else f" with {identity}"
        what = f"transactional id '{self.transactional_id}'{whose}"
        error = error_of(error_code, api_name, what=what)
        if isinstance(error, ProducerFenced):
            explanation = f"{ProducerFenced.__doc__} {self._current_owner()}".rstrip()
            error = error_of(error_code, api_name, what=what, explanation=explanation)
        return error

    def identity_after_own_abort(self, identity: ProducerIdentity) -> ProducerIdentity | None:
        """What an open transaction's identity has become if the coordinator aborted it by itself: it timed out, or its
        owner's InitProducerId found it open and was not answered. None if another took over, or it is not known.

        In the first flow that costs an epoch, and the owner is then refused as one that was replaced. One that replaces
        it in the middle of a transaction takes one more. In between the two this may be wrong; the one that presents
        what it returns is then fenced a moment later.
        """
        row = self._described()
        if row is None or row.transaction_state not in OWN_ABORT_STATES:
            return None
        following = identity._replace(producer_epoch=identity.producer_epoch + 1)
        return following if following == (row.producer_id, row.producer_epoch) else None

    def is_ending(self) -> bool:
        """Whether the last transaction is decided and its markers are not all written; False if it is not known."""
        row = self._described()
        return row is not None and row.transaction_state.startswith("Prepare")

    def _current_owner(self) -> str:
        """Who has the id now, if the coordinator says so: the answer that fenced us has no room for it."""
        row = self._described()
        if row is None:
            return ""
        owner = ProducerIdentity(row.producer_id, row.producer_epoch)
        return f"The coordinator has {owner}, state {row.transaction_state}."

    def _described(self) -> TransactionState | None:
        try:
            response = self._cluster.call_coordinator(
                CoordinatorType.TRANSACTION,
                self.transactional_id,
                DescribeTransactionsRequest(transactional_ids=[self.transactional_id]),
                DescribeTransactionsResponse,
                deadline=Deadline(EXPLAIN_TIMEOUT_S),
                timeout_s=EXPLAIN_TIMEOUT_S,
            )
        except ClientError:
            return None
        return next((row for row in response.transaction_states if row.error_code == ErrorCode.NONE), None)


def _pause_max_s(problem: ClientError) -> float:
    return CONCURRENT_PAUSE_S if problem.error_code == ErrorCode.CONCURRENT_TRANSACTIONS else math.inf


def _error_code(response: "InitProducerIdResponse | AddOffsetsToTxnResponse | EndTxnResponse") -> int:
    return response.error_code


def _partitions_error(response: AddPartitionsToTxnResponse) -> int:
    rows = [row for topic in response.results_by_topic_v3_and_below for row in topic.results_by_partition]
    return _worst([row.partition_error_code for row in rows], "AddPartitionsToTxn")


def _offsets_error(response: TxnOffsetCommitResponse) -> int:
    return _worst([row.error_code for topic in response.topics for row in topic.partitions], "TxnOffsetCommit")


_WORSE = (Category.FENCED, Category.FATAL, Category.ABORTABLE, Category.RETRIABLE)


def _worst(codes: list[int], api_name: str) -> int:
    """The code that decides for all; OPERATION_NOT_ATTEMPTED only says that another partition was refused."""
    errors = [code for code in codes if code != ErrorCode.NONE]
    telling = [code for code in errors if code != ErrorCode.OPERATION_NOT_ATTEMPTED] or errors
    return min(telling, key=lambda code: _WORSE.index(category_of(code, api_name)), default=ErrorCode.NONE)


BROKER_PAUSE_S = 0.02
ASK_AGAIN_S = 0.0003
TRIALS = 32
"""After so many transactions that all found the markers written, the coordinator is believed."""


class MarkerWait:
    """Holds back the first record of a transaction while the markers of the last one are still being written.

    In the second flow Apache Kafka answers EndTxn before it has written the markers. A Produce that comes meanwhile is
    put aside by the broker for 20 ms (its `add.partitions.to.txn.retry.backoff.ms`), when one or two would be enough.
    So the coordinator is asked how far it is, at most for as long as the broker would wait. One that is never found
    busy at first answers after its markers, as ours does: it is not asked any more.
    """

    def __init__(self, control: TransactionControl) -> None:
        self._control = control
        self._ended_s = float("-inf")
        self._trials_left = TRIALS
        self._was_ever_busy = False

    def transaction_ended(self) -> None:
        self._ended_s = time.monotonic()

    def wait(self) -> None:
        """Before the first request of a transaction."""
        give_up_s = self._ended_s + BROKER_PAUSE_S
        if not self._trials_left or time.monotonic() >= give_up_s:
            return
        was_busy = False
        while time.monotonic() < give_up_s and self._control.is_ending():
            was_busy = True
            time.sleep(ASK_AGAIN_S)
        self._was_ever_busy |= was_busy
        self._trials_left -= not self._was_ever_busy
