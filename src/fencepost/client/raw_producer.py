"""Given batches, with given producer id, epoch and sequences, to given partitions: the first failure stops it.

For pipelines that share one transaction between processes: nothing is numbered, partitioned or batched here, and
nothing is begun or ended (`transaction_control.py` does that, wherever). Batches of a partition go in the order given,
retries send the same bytes, and after a failure nothing that was not on its way is sent.
"""

import dataclasses
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from fencepost.client.cluster import Cluster
from fencepost.client.exceptions import ClientError, IllegalState, Timeout
from fencepost.client.producer.batch import ProducerBatch
from fencepost.client.producer.delivery import Delivery
from fencepost.client.producer.numbering import Numbering
from fencepost.client.producer.produce_request import CLASSIC_TRANSACTIONS_UNTIL
from fencepost.client.producer.sender import Sender
from fencepost.client.settings import ProducerSettings, client_settings
from fencepost.client.time_limits import Closing, Deadline
from fencepost.client.transaction_control import V2_LEVEL
from fencepost.client.values import ProducerIdentity
from fencepost.records.header import BatchHeader, read_header
from fencepost.types import Buffer, TopicPartition


class Acknowledged(NamedTuple):
    """One batch that is stored."""

    topic_partition: TopicPartition
    base_offset: int
    record_count: int
    base_sequence: int


class Sent(NamedTuple):
    """One batch that is on its way."""

    delivery: Delivery
    header: BatchHeader


class RawProducer(Closing):
    """For one identity at a time. Without a transactional id the batches are idempotent, outside of any transaction."""

    def __init__(
        self,
        bootstrap_servers: str | Iterable[str],
        *,
        identity: ProducerIdentity,
        transactional_id: str | None = None,
        **settings: Any,
    ) -> None:
        chosen = client_settings(ProducerSettings, settings, kind="raw producer")
        self._settings = dataclasses.replace(chosen, linger_ms=0)
        self._identity = identity
        self._cluster = Cluster(bootstrap_servers, self._settings)
        self._numbering = _GivenNumbering(self._cluster, identity, transactional_id)
        self._process_id = os.getpid()
        self._sender = Sender(self._cluster, self._numbering, self._settings)
        self._outbox = self._sender.outbox

    def produce(
        self, batches: Iterable[tuple[TopicPartition, Buffer]], *, timeout_s: float | None = None
    ) -> list[Acknowledged]:
        """Returns when all are stored, in the order given; raises the first failure, which nothing overtakes."""
        deadline = Deadline(timeout_s)
        return self.settle([self.put(topic_partition, batch, deadline) for topic_partition, batch in batches], deadline)

    def put(self, topic_partition: TopicPartition, batch: Buffer, deadline: Deadline) -> Sent:
        """Have it sent, behind what was put before; waits for memory. Raises if something before it has failed.

        Batches are not copied: after a failure their memory may still be read until `close`.
        """
        self.check_going()
        header = self._checked(topic_partition, batch)
        if topic_partition.topic not in self._cluster.metadata.topics:
            self._cluster.topic(topic_partition.topic, deadline)
        delivery = self._outbox.put_whole(
            topic_partition, memoryview(batch), is_sealed=True, deadline=deadline, check=self.check_going
        )
        return Sent(delivery, header)

    def settle(self, sent: Sequence[Sent], deadline: Deadline) -> list[Acknowledged]:
        """Returns when everything is stored that was put so far; raises the first failure."""
        self._outbox.settle(deadline)
        self.check_going()
        return [
            Acknowledged(delivery.topic_partition, delivery.base_offset, header.record_count, header.base_sequence)
            for delivery, header in sent
        ]

    def check_going(self) -> None:
        """Raises the first failure, if there was one."""
        if self._numbering.problem is not None:
            raise self._numbering.problem

    def go_on_as(self, identity: ProducerIdentity) -> None:
        """Batches of the next transaction, over the same connections. Only when everything before is stored."""
        if identity == self._identity:
            return
        self.check_going()
        if self._outbox.accumulator.incomplete:
            raise IllegalState(f"{self._identity} still has batches on their way")
        self._identity = self._numbering.identity = identity

    def stop(self) -> None:
        """Have it end after what it is sending now. `close` does it too, and waits."""
        if self._process_id == os.getpid():
            self._sender.begin_to_stop()

    def close(self, timeout: float = 10.0) -> None:
        """What is on its way is left to its fate: a caller that wants to know it has waited in `produce`."""
        if self._process_id != os.getpid():
            return
        has_ended = self._sender.stop(timeout)
        self._cluster.close()
        if not has_ended:
            raise Timeout("the producer's thread did not end in time")

    def _checked(self, topic_partition: TopicPartition, batch: Buffer) -> BatchHeader:
        header = read_header(batch)
        theirs = ProducerIdentity(header.producer_id, header.producer_epoch)
        is_transactional = self._numbering.transactional_id is not None
        if theirs != self._identity or header.base_sequence < 0 or header.is_transactional != is_transactional:
            raise IllegalState(
                f"{topic_partition}: a batch with {theirs}, sequence {header.base_sequence}, "
                f"transactional={header.is_transactional} is not one of {self._identity}, "
                f"transactional={is_transactional}"
            )
        return header


class _GivenNumbering(Numbering):
    is_numbered = True
    transactional_id: str | None = None
    problem: ClientError | None = None

    def __init__(self, cluster: Cluster, identity: ProducerIdentity, transactional_id: str | None) -> None:
        self._cluster = cluster
        self.identity = identity
        self.transactional_id = transactional_id

    @property
    def _is_checked_by_broker(self) -> bool:
        """In the second flow of transactions the broker refuses a first sequence that is not 0."""
        return self.transactional_id is not None and self._cluster.transaction_version >= V2_LEVEL

    @property
    def starts_carefully(self) -> bool:
        return not self._is_checked_by_broker

    @property
    def produce_version_max(self) -> int | None:
        is_classic = self.transactional_id is not None and not self._is_checked_by_broker
        return CLASSIC_TRANSACTIONS_UNTIL if is_classic else None

    @property
    def may_retry(self) -> bool:
        return self.problem is None

    def prepare(self, partitions: Sequence[TopicPartition], transaction_number: int) -> None:
        if self.problem is not None:
            raise self.problem

    def identity_for(self, used: ProducerIdentity) -> ProducerIdentity:
        return self.identity

    def batch_failed(self, batch: ProducerBatch, error: ClientError) -> None:
        if self.problem is None:
            self.problem = error
