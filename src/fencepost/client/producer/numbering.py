"""Under which producer id and number batches go: what the sender asks before it sends, and reports afterwards.

Four kinds of producer differ in nothing else: plain (no numbers) and idempotent (here), transactional
(`transaction_manager.py`), and raw (`raw_producer.py`: the batches carry their numbers already).
"""

import threading
from collections.abc import Sequence

from fencepost.client.cluster import Cluster
from fencepost.client.exceptions import ClientError, RetriableError
from fencepost.client.producer.batch import ProducerBatch
from fencepost.client.transaction_control import new_producer_id
from fencepost.client.values import NO_IDENTITY, ProducerIdentity
from fencepost.types import TopicPartition

EPOCH_MAX = 2**15 - 2
"""The highest epoch is the coordinator's, to fence with."""


class Numbering:
    """No numbers, which is the plain producer's way: a retry may store a batch twice."""

    @property
    def transactional_id(self) -> str | None:
        return None

    @property
    def is_numbered(self) -> bool:
        return False

    @property
    def can_restart(self) -> bool:
        """Whether a hole may be closed by numbering the rest anew under another epoch."""
        return False

    @property
    def starts_carefully(self) -> bool:
        """Whether a partition gets one batch at a time until it has acknowledged one."""
        return False

    @property
    def may_retry(self) -> bool:
        return True

    @property
    def produce_version_max(self) -> int | None:
        return None

    @property
    def problem(self) -> ClientError | None:
        """Why nothing can be sent any more, or not at the moment: what waits is given up with this error."""
        return None

    @property
    def transaction_number(self) -> int:
        """Another one for each transaction; 0 where there are none. While the outbox is locked, batches that wait in it
        belong to this one: nothing is put in for one that is not open, and none ends before its last batch has left."""
        return 0

    def prepare(self, partitions: Sequence[TopicPartition], transaction_number: int) -> None:
        """Do what must be done before records of a transaction go to these partitions; nothing if another one has begun
        meanwhile. May call brokers; raises if it cannot be done."""

    def is_prepared(self, partition: TopicPartition) -> bool:
        """Whether what `prepare` does for a partition is done for the batches that wait for it now: a transaction may
        have ended, and the next one begun, since `prepare` was called."""
        return True

    def identity_for(self, used: ProducerIdentity) -> ProducerIdentity:
        """The identity of the next batch on a partition that has used this one."""
        return NO_IDENTITY

    def next_identity(self, used: ProducerIdentity) -> ProducerIdentity | None:
        """The identity to number anew under, after this one; None while it has to be fetched."""
        return None

    def batch_failed(self, batch: ProducerBatch, error: ClientError) -> None:
        """A batch was given up."""


class IdempotentNumbering(Numbering):
    """A producer id of its own, and on each partition an epoch that grows when a hole has to be closed (KIP-360)."""

    is_numbered = True
    can_restart = True
    starts_carefully = True
    problem: ClientError | None = None

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lock = threading.Lock()
        self._identity = NO_IDENTITY

    def prepare(self, partitions: Sequence[TopicPartition], transaction_number: int) -> None:
        if self._identity != NO_IDENTITY:
            return
        try:
            identity = new_producer_id(self._cluster)
        except ClientError as problem:
            is_refused = problem.answer is not None and problem.answer.api_name == "InitProducerId"
            if is_refused and not isinstance(problem, RetriableError):
                self.problem = problem
            raise
        with self._lock:
            self._identity = identity

    def identity_for(self, used: ProducerIdentity) -> ProducerIdentity:
        return used if used.producer_id == self._identity.producer_id else self._identity

    def next_identity(self, used: ProducerIdentity) -> ProducerIdentity | None:
        with self._lock:
            if used.producer_id != self._identity.producer_id:
                return None if self._identity == NO_IDENTITY else self._identity
            if used.producer_epoch < EPOCH_MAX:
                return used._replace(producer_epoch=used.producer_epoch + 1)
            self._identity = NO_IDENTITY
            return None
