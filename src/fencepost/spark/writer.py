"""The protocol of one micro-batch: pin, identity, ledger, publish, commit; or abort, and again (steps 1 to 6).

Whatever fails before the commit is answered leads back to step 2: the next identity ends the transaction one way or
the other, and the ledger then says which. So a micro-batch is done when its token is there, and published again when
it is not.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

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
    Timeout,
    UnsupportedVersion,
)
from fencepost.spark.broker_limits import transaction_timeout_ms_max
from fencepost.spark.fail_points import FailPointReached, fail_point
from fencepost.spark.ledger import Ledger
from fencepost.spark.pinning import Pinned
from fencepost.spark.producer_states import check_producer_states
from fencepost.spark.publish import Publisher
from fencepost.spark.sink_errors import GaveUp, PublishFailed
from fencepost.spark.token import Verdict
from fencepost.spark.transaction import Transaction
from fencepost.spark.work import Work
from fencepost.types import TopicPartition

logger = logging.getLogger("fencepost.spark")

HOPELESS = (AuthenticationFailed, Authorization, InvalidRecord, InvalidTopic, RecordTooLarge, UnsupportedVersion)
"""What a broker says again however often it is asked."""
PERHAPS_TIMED_OUT = (InvalidProducerEpoch, InvalidTxnState, ProducerFenced, Timeout)
SPARK_TROUBLE = (PySparkException, Py4JError)
CANCELLED = "cancelled"


@dataclass(slots=True)
class Outcome:
    pinned: Pinned
    is_skipped: bool = False
    retry_count: int = 0
    encode_ms: float = 0.0
    commit_ms: float = 0.0


class ExactlyOnceWriter:
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

    def write(self, work: Work, pin: Callable[[], Pinned]) -> Outcome:
        started_s = time.monotonic()
        outcome = Outcome(pin(), encode_ms=(time.monotonic() - started_s) * 1000)
        fail_point("pinned")
        started_s = time.monotonic()
        try:
            while not self._is_written(work, outcome, pin):
                outcome.retry_count += 1
        finally:
            outcome.pinned.release()
        outcome.commit_ms = (time.monotonic() - started_s) * 1000
        return outcome

    def close(self) -> None:
        self._publisher.close()

    def _is_written(self, work: Work, outcome: Outcome, pin: Callable[[], Pinned]) -> bool:
        """One try. False: it failed, it is aborted, and it is worth another."""
        try:
            outcome.is_skipped = self._try(work, outcome.pinned, is_own_retry=outcome.retry_count > 0)
            return True
        except (ClientError, PublishFailed, FailPointReached, *SPARK_TROUBLE) as problem:
            self._abort()
            self._check_hope(work, problem, outcome.retry_count)
            if isinstance(problem, SPARK_TROUBLE):
                # Blocks may be lost. Nothing of this micro-batch is visible, so that it may be computed again.
                outcome.pinned.release()
                outcome.pinned = pin()
        except BaseException:
            self._abort()
            raise
        return False

    def _try(self, work: Work, pinned: Pinned, *, is_own_retry: bool) -> bool:
        """Returns whether there was nothing to do."""
        records = pinned.manifest.records
        if self._transaction.begin() or self._tokens is None:
            self._ledger.open({where.topic for where in records})
            self._tokens = self._ledger.read()
            fail_point("ledger-read")
        if work.judge(self._tokens.get(work.key), is_own_retry=is_own_retry) is Verdict.DONE:
            return True
        fail_point("before-publish")
        self._transaction.join([*records, self._ledger.partition])
        self._publish(pinned, records)
        fail_point("before-offsets")
        if work.offsets:
            self._transaction.send_offsets(self._group_id, work.offsets)
        fail_point("offsets-sent")
        token = work.token(pinned.manifest.row_count)
        self._publisher.publish(
            self._transaction.identity, [self._ledger.token_batch(work.key, token)], timeout_s=self._timeout_s
        )
        fail_point("token-sent")
        self._transaction.commit()
        self._tokens[work.key] = token
        fail_point("after-commit")
        return False

    @property
    def _timeout_s(self) -> float:
        return self._transaction.timeout_ms / 1000

    def _publish(self, pinned: Pinned, records: Counter[TopicPartition]) -> None:
        if not records:
            return
        identity = self._transaction.identity
        acknowledged = pinned.publish(identity, self._publisher, timeout_s=self._timeout_s)
        fail_point("published")
        if acknowledged != records:
            missing = records - acknowledged
            raise PublishFailed(f"not every record was acknowledged: {dict(missing) or dict(acknowledged - records)}")
        check_producer_states(self._cluster, identity, records)

    def _abort(self) -> None:
        self._tokens = None
        fail_point("before-abort")
        self._transaction.abort()
        fail_point("after-abort")

    def _check_hope(self, work: Work, problem: BaseException, retry_count: int) -> None:
        """Raises if another try is pointless; otherwise makes ready for it."""
        if isinstance(problem, HOPELESS) or (isinstance(problem, SPARK_TROUBLE) and CANCELLED in str(problem)):
            raise problem
        hint = ""
        if isinstance(problem, PERHAPS_TIMED_OUT):
            limit_ms = transaction_timeout_ms_max(self._cluster)
            if not self._transaction.lengthen(limit_ms):
                hint = (
                    f" If it timed out: transaction_timeout_ms={self._transaction.timeout_ms} is as long as the "
                    "broker's "
                    "transaction.max.timeout.ms allows; raise that, or make micro-batches smaller "
                    "(maxOffsetsPerTrigger)."
                )
        if retry_count >= self._max_retries:
            raise GaveUp(
                f"{work} failed {retry_count + 1} times, which is all that max_retries={self._max_retries} allows; "
                "nothing of it is "
                f"visible. The last time: {problem}.{hint}"
            ) from problem
        logger.warning("%s failed and is tried again (%d of %d): %s", work, retry_count + 1, self._max_retries, problem)
