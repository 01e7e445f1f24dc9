"""The protocol of one micro-batch: pin, identity, ledger, publish, commit; or abort, and again (steps 1 to 6).

Whatever fails before the commit is answered leads back to step 2: the next identity ends the transaction one way or
the other, and the ledger then says which. So a micro-batch is done when its token is there, and published again when
it is not.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from fencepost.client.admin.topics import BROKER_RESOURCE, describe_configs
from fencepost.client.cluster import Cluster
from fencepost.client.exceptions import (
    AuthenticationFailed,
    Authorization,
    ClientError,
    InvalidProducerEpoch,
    InvalidRecord,
    InvalidTopic,
    InvalidTxnState,
    ProducerFenced,
    RecordTooLarge,
    RetriableError,
    Timeout,
    UnsupportedVersion,
)
from fencepost.client.values import ProducerIdentity
from fencepost.spark.sink.errors import GaveUp, PublishFailed, stop_told
from fencepost.spark.sink.fail_points import FailPointReached, fail_point
from fencepost.spark.sink.ledger import Ledger
from fencepost.spark.sink.pinning import Pinned
from fencepost.spark.sink.producer_states import check_producer_states
from fencepost.spark.sink.publish import PinnedBatch, Publisher
from fencepost.spark.sink.token import Verdict
from fencepost.spark.sink.transaction import Transaction
from fencepost.spark.sink.work import Work
from fencepost.types import TopicPartition

# How long a transaction may be at most, as the cluster says.


SETTING = "transaction.max.timeout.ms"


def transaction_timeout_ms_max(cluster: Cluster) -> int | None:
    """What a broker has for `transaction.max.timeout.ms`; None where nobody tells.

    A guess would be wrong for good: a broker refuses a timeout that is longer than its own limit.
    """
    node = next(iter(cluster.metadata.brokers.values()), None)
    if node is None:
        return None
    try:
        found = describe_configs(cluster, BROKER_RESOURCE, str(node.node_id), [SETTING], node=node)
    except ClientError:
        return None
    values = [row.value for row in found.configs if row.name == SETTING and row.value]
    return int(values[0]) if values else None


logger = logging.getLogger("fencepost.spark")

HOPELESS = (AuthenticationFailed, Authorization, InvalidRecord, InvalidTopic, RecordTooLarge, UnsupportedVersion)
"""What a broker says again however often it is asked."""
PERHAPS_TIMED_OUT = (InvalidProducerEpoch, InvalidTxnState, ProducerFenced, PublishFailed, Timeout)
SPARK_TROUBLE = (PySparkException, Py4JError)
MAY_BE_VISIBLE = "it may be committed: the commit was not answered, and the next start finds out in the ledger"


@dataclass(slots=True, kw_only=True)
class Plan:
    """What is to be written, and how to come by it."""

    work: Work
    pin: Callable[[], Pinned]
    topics: Sequence[str] = ()
    """Those that are known before anything is computed."""
    can_skip: bool = False
    """Nothing but the output needs the computation: state stores, for instance, do."""


@dataclass(slots=True)
class Outcome:
    pinned: Pinned | None = None
    is_skipped: bool = False
    retry_count: int = 0
    is_undecided: bool = False
    """A commit was asked for, and the ledger has not said since that it did not happen."""
    encode_ms: float = 0.0
    commit_ms: float = 0.0

    def pin(self, plan: Plan) -> Pinned:
        """Compute and pin, once."""
        if self.pinned is None:
            started_s = time.monotonic()
            self.pinned = plan.pin()
            self.encode_ms += (time.monotonic() - started_s) * 1000
            fail_point("pinned")
        return self.pinned

    def unpin(self) -> None:
        if self.pinned is not None:
            self.pinned.release()


class ExactlyOnceWriter:
    """Writes one plan at a time: a second thread waits its turn, because a transactional id has one transaction."""

    def __init__(
        self,
        cluster: Cluster,
        publisher: Publisher,
        transaction: Transaction,
        ledger: Ledger,
        *,
        group_id: str,
        max_retries: int,
    ) -> None:
        self._cluster = cluster
        self._publisher = publisher
        self._transaction = transaction
        self._ledger = ledger
        self._group_id = group_id
        self._max_retries = max_retries
        self._tokens: dict[bytes, bytes] | None = None
        """The ledger as this driver knows it; None while it has to be read."""
        self._turn = threading.Lock()

    def write(self, plan: Plan) -> Outcome:
        with self._turn:
            return self._write(plan)

    def close(self) -> None:
        self._publisher.close()

    def _write(self, plan: Plan) -> Outcome:
        outcome = Outcome()
        started_s = time.monotonic()
        try:
            while not self._is_written(plan, outcome):
                outcome.retry_count += 1
        finally:
            outcome.unpin()
        outcome.commit_ms = (time.monotonic() - started_s) * 1000 - outcome.encode_ms
        return outcome

    def _is_written(self, plan: Plan, outcome: Outcome) -> bool:
        """One try. False: it failed, it is aborted, and it is worth another."""
        # Before the first identity: it would fence a driver that does well while this one still computes.
        if not (plan.can_skip and self._tokens is None):
            outcome.pin(plan)
        try:
            outcome.is_skipped = self._try(plan, outcome)
            return True
        except (ClientError, PublishFailed, FailPointReached, *SPARK_TROUBLE) as problem:
            self._abort()
            self._check_hope(plan.work, problem, outcome)
            if isinstance(problem, SPARK_TROUBLE):
                # Blocks may be lost. Nothing of this micro-batch is visible, so it may be computed again.
                outcome.unpin()
                outcome.pinned = None
        except BaseException:
            self._abort()
            raise
        return False

    def _try(self, plan: Plan, outcome: Outcome) -> bool:
        """Returns whether there was nothing to do."""
        work = plan.work
        tokens = self._begin(plan, outcome)
        if self._judge(work, tokens, outcome) is Verdict.DONE:
            return True
        outcome.is_undecided = False
        # Once: what was published under it must not be decided under another.
        identity = self._transaction.identity
        pinned = outcome.pin(plan)
        records = pinned.manifest.records
        fail_point("before-publish")
        self._transaction.join(identity, [*records, self._ledger.partition])
        self._publish(identity, pinned, records)
        fail_point("before-offsets")
        if work.offsets:
            self._transaction.send_offsets(identity, self._group_id, work.offsets)
        fail_point("offsets-sent")
        token = work.token(pinned.manifest.row_count)
        self._publish_token(identity, self._ledger.token_batch(work.key, token))
        fail_point("token-sent")
        outcome.is_undecided = True
        self._transaction.commit(identity)
        tokens[work.key] = token
        fail_point("after-commit")
        return False

    def _begin(self, plan: Plan, outcome: Outcome) -> dict[bytes, bytes]:
        """Have an identity, and know the ledger."""
        is_open = not self._transaction.has_identity and self._has_looked(plan, outcome)
        if self._transaction.begin() or self._tokens is None:
            if not is_open:
                self._open_ledger(plan, outcome)
            self._tokens = self._ledger.read()
            fail_point("ledger-read")
        return self._tokens

    def _has_looked(self, plan: Plan, outcome: Outcome) -> bool:
        """Before the first identity fences another driver: raises if this one would be refused. It permits nothing, so
        it may be left out: taking the identity waits for brokers that are away, and the ledger is judged after it.
        """
        try:
            self._open_ledger(plan, outcome)
            tokens = self._ledger.look()
        except RetriableError as problem:
            logger.info("the ledger could not be looked at before taking over: %s", problem)
            return False
        if tokens is not None:
            self._judge(plan.work, tokens, outcome)
        return True

    def _open_ledger(self, plan: Plan, outcome: Outcome) -> None:
        known = [] if outcome.pinned is None else [where.topic for where in outcome.pinned.manifest.records]
        self._ledger.open(dict.fromkeys([*plan.topics, *known]))

    @staticmethod
    def _judge(work: Work, tokens: dict[bytes, bytes], outcome: Outcome) -> Verdict:
        return work.judge(tokens.get(work.key), is_own_retry=outcome.retry_count > 0)

    @property
    def _timeout_s(self) -> float:
        return self._transaction.timeout_ms / 1000

    def _publish(self, identity: ProducerIdentity, pinned: Pinned, records: Counter[TopicPartition]) -> None:
        if not records:
            return
        acknowledged = pinned.publish(identity, self._publisher, timeout_s=self._timeout_s)
        fail_point("published")
        if acknowledged != records:
            missing = records - acknowledged
            raise PublishFailed(f"not every record was acknowledged: {dict(missing) or dict(acknowledged - records)}")
        check_producer_states(self._cluster, identity, records)

    def _publish_token(self, identity: ProducerIdentity, batch: PinnedBatch) -> None:
        stored = self._publisher.publish(identity, [batch], timeout_s=self._timeout_s)
        if stored != {self._ledger.partition: 1}:
            raise PublishFailed(f"the token was not acknowledged: {dict(stored)}")

    def _abort(self) -> None:
        self._tokens = None
        fail_point("before-abort")
        self._transaction.abort()
        fail_point("after-abort")

    def _check_hope(self, work: Work, problem: BaseException, outcome: Outcome) -> None:
        """Raises if another try is pointless; otherwise makes ready for it."""
        if isinstance(problem, HOPELESS) or (isinstance(problem, SPARK_TROUBLE) and outcome.pinned is None):
            raise problem
        if isinstance(problem, SPARK_TROUBLE) and stop_told(problem) is not None:
            raise problem
        hint = self._lengthened(problem)
        if outcome.retry_count >= self._max_retries:
            visible = MAY_BE_VISIBLE if outcome.is_undecided else "nothing of it is visible"
            raise GaveUp(
                f"{work} failed {outcome.retry_count + 1} times, which is all that max_retries={self._max_retries} "
                f"allows; {visible}. The last time: {problem}.{hint}"
            ) from problem
        logger.warning(
            "%s failed and is tried again (%d of %d): %s", work, outcome.retry_count + 1, self._max_retries, problem
        )

    def _lengthened(self, problem: BaseException) -> str:
        """What may have timed out gets more time. Returns what to say if there is no more to give."""
        if not isinstance(problem, PERHAPS_TIMED_OUT):
            return ""
        timeout_ms_max = transaction_timeout_ms_max(self._cluster)
        if timeout_ms_max is None:
            return (
                f" If it timed out: transaction_timeout_ms={self._transaction.timeout_ms} was not lengthened, because "
                "the broker's transaction.max.timeout.ms could not be asked."
            )
        if self._transaction.lengthen(timeout_ms_max):
            return ""
        return (
            f" If it timed out: transaction_timeout_ms={self._transaction.timeout_ms} is as long as the broker's "
            "transaction.max.timeout.ms allows; raise that, or make micro-batches smaller (maxOffsetsPerTrigger)."
        )
