"""The driver's side of a transaction: who it is to the coordinator, and how a transaction ends (steps 2, 5 and 6).

A driver's first call is bare and takes over: it ends what an earlier driver left open and fences its stragglers.
Later calls present the identity that the driver has: PRODUCER_FENCED then means that another driver has taken over,
anything else that this one goes on under the next epoch. In the second flow (KIP-890) the end of a transaction gives
the next identity, and no call is needed.
"""

import logging
from collections.abc import Iterable

from fencepost.client.cluster import Cluster
from fencepost.client.exceptions import (
    ClientError,
    FencedError,
    InvalidProducerIdMapping,
    InvalidTransactionTimeout,
    ProducerFenced,
)
from fencepost.client.time_limits import Deadline
from fencepost.client.transaction_control import TransactionControl
from fencepost.client.values import ConsumerGroupMetadata, OffsetAndMetadata, ProducerIdentity
from fencepost.errors import ErrorCode, InvariantBroken
from fencepost.spark.sink.errors import FencedByAnotherDriver, RefusedSetup
from fencepost.spark.sink.fail_points import fail_point
from fencepost.types import TopicPartition

logger = logging.getLogger("fencepost.spark")

CALL_TIMEOUT_S = 60.0
TIMEOUT_GROWTH = 2


class Transaction:
    """One at a time, again and again, for one transactional id.

    Whoever writes takes the identity once and presents it until the end: a later one is another transaction's, so the
    broker has to refuse what comes under the earlier.
    """

    def __init__(self, cluster: Cluster, transactional_id: str, *, timeout_ms: int) -> None:
        self._cluster = cluster
        self._control = TransactionControl(cluster, transactional_id)
        self.transactional_id = transactional_id
        self.timeout_ms = timeout_ms
        self._identity: ProducerIdentity | None = None
        self._is_ready = False
        """The identity is a new one: nothing was written under it."""
        self._uses_v2 = False
        self._has_joined = False

    @property
    def has_identity(self) -> bool:
        """Without one, `begin` takes over from whoever has the id."""
        return self._identity is not None

    @property
    def identity(self) -> ProducerIdentity:
        if self._identity is None:
            raise InvariantBroken(f"'{self.transactional_id}' has an identity once it has begun")
        return self._identity

    def begin(self) -> bool:
        """Have an identity that no transaction has used. Returns whether this took over from somebody, perhaps."""
        has_taken_over = False
        if not self._is_ready:
            fail_point("before-init")
            has_taken_over = self._take_identity()
            self._is_ready = True
            fail_point("after-init")
        self._uses_v2 = self._control.uses_v2
        self._has_joined = False
        return has_taken_over

    def join(self, identity: ProducerIdentity, partitions: Iterable[TopicPartition]) -> None:
        """Before records go to these partitions."""
        self._is_ready = False
        self._has_joined = True
        if not self._uses_v2:
            self._control.add_partitions(identity, partitions, deadline=Deadline(CALL_TIMEOUT_S))

    def send_offsets(self, identity: ProducerIdentity, group_id: str, positions: dict[TopicPartition, int]) -> None:
        """Those of partitions that there are: the token says what was read, the group only shows it to others.

        A coordinator takes no offset of a topic that was deleted, and the micro-batch would never be committed.
        """
        gone = _gone(self._cluster, positions)
        if gone:
            logger.warning(
                "group '%s' gets no offsets of %s: the cluster has no such partitions (any more); the ledger has them",
                group_id,
                ", ".join(map(str, sorted(gone))),
            )
        offsets = {where: OffsetAndMetadata(offset) for where, offset in positions.items() if where not in gone}
        if not offsets:
            return
        deadline = Deadline(CALL_TIMEOUT_S)
        if not self._uses_v2:
            self._control.add_offsets(identity, group_id, deadline=deadline)
        self._control.txn_offset_commit(
            identity, ConsumerGroupMetadata(group_id), offsets, uses_v2=self._uses_v2, deadline=deadline
        )

    def commit(self, identity: ProducerIdentity) -> None:
        self._end(identity, is_commit=True)

    def abort(self) -> None:
        """As well as it goes: the next identity aborts whatever is left."""
        if not self._has_joined:
            return
        try:
            self._end(self.identity, is_commit=False)
        except ClientError as problem:
            logger.info("'%s' could not abort, the next epoch will: %s", self.transactional_id, problem)

    def lengthen(self, timeout_ms_max: int) -> bool:
        """A longer timeout from the next identity on. Returns whether there was any room."""
        longer = min(self.timeout_ms * TIMEOUT_GROWTH, timeout_ms_max)
        has_room = longer > self.timeout_ms
        self.timeout_ms = max(self.timeout_ms, longer)
        # The coordinator learns of it by the next InitProducerId, which an identity in hand would save.
        self._is_ready = self._is_ready and not has_room
        return has_room

    def _end(self, identity: ProducerIdentity, *, is_commit: bool) -> None:
        self._is_ready = False
        following = self._control.end_txn(
            identity, is_commit=is_commit, uses_v2=self._uses_v2, deadline=Deadline(CALL_TIMEOUT_S)
        )
        self._is_ready = self._uses_v2 and following != identity
        self._identity = following
        self._has_joined = False

    def _take_identity(self) -> bool:
        """Returns whether somebody may have had the id meanwhile."""
        presented = self._identity
        try:
            self._identity = self._control.init_producer_id(
                transaction_timeout_ms=self.timeout_ms, presented=presented, deadline=Deadline(CALL_TIMEOUT_S)
            )
        except InvalidTransactionTimeout as problem:
            raise RefusedSetup(
                f"transaction_timeout_ms={self.timeout_ms} is more than the broker allows: choose a shorter one, or "
                "raise "
                "the broker's transaction.max.timeout.ms"
            ) from problem
        except InvalidProducerIdMapping:
            # The coordinator has forgotten this id after days without a transaction: nobody took over.
            self._identity = None
            return self._take_identity()
        except (ProducerFenced, FencedError) as problem:
            if self._has_joined and presented is not None:
                self._has_joined = False
                following = self._control.identity_after_own_abort(presented)
                if following is not None:
                    logger.info("'%s': the coordinator has aborted what was open", self.transactional_id)
                    self._identity = following
                    self._take_identity()
                    return True
            raise FencedByAnotherDriver(
                f"another driver has taken over '{self.transactional_id}' and goes on where this one stopped; "
                "nothing is lost. "
                f"Stop one of the two, or give them names of their own. {problem}"
            ) from problem
        logger.info("'%s' has %s", self.transactional_id, self._identity)
        # Another producer id: the coordinator had forgotten this one, and somebody may have come and gone since.
        return presented is None or self._identity.producer_id != presented.producer_id


def _gone(cluster: Cluster, wheres: Iterable[TopicPartition]) -> set[TopicPartition]:
    """Those that the cluster says it does not have. Asked afresh, and so that asking creates no topic."""
    wheres = set(wheres)
    topics = cluster.ask_metadata(sorted({where.topic for where in wheres})).topics
    # Another answer, that one may not know for instance, is for the coordinator to give.
    told = {
        topic.name for topic in topics if topic.error_code in (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    }
    there = {(topic.name, row.partition_index) for topic in topics for row in topic.partitions}
    return {where for where in wheres if where.topic in told and where not in there}
