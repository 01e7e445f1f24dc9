"""The thread that carries batches to brokers: one for each producer, several requests on their way to each broker.

It waits in one place, for answers, for time to pass, or for a nudge. What it shares is behind one lock,
which is never held while a broker is waited for. Which batch may go is `partition_queue.py`, under which name it goes
is `numbering.py`, what becomes of it is `settlement.py`.
"""

import logging
import select
import threading
import time
from collections.abc import Iterable, Sequence

from fencepost.client.cluster import Cluster
from fencepost.client.error_table import REFRESH_METADATA, known_code
from fencepost.client.exceptions import (
    ClientError,
    Disconnected,
    FatalError,
    IllegalState,
    RetriableBrokerError,
    RetriableError,
)
from fencepost.client.net.metadata import Node
from fencepost.client.producer.accumulator import NEVER_S
from fencepost.client.producer.batch import ProducerBatch
from fencepost.client.producer.numbering import Numbering
from fencepost.client.producer.outbox import Outbox
from fencepost.client.producer.partition_queue import PartitionQueue
from fencepost.client.producer.produce_request import (
    LAST_VERSION_BY_NAME,
    TOPIC_IDS_SINCE,
    BatchAnswer,
    BrokerLink,
    build_request,
)
from fencepost.client.producer.settlement import Settlement
from fencepost.client.settings import ProducerSettings
from fencepost.client.time_limits import Backoff
from fencepost.errors import ErrorCode
from fencepost.records.compression import Compression
from fencepost.wire.api import PRODUCE
from fencepost.wire.reading import ZERO_UUID

logger = logging.getLogger("fencepost.client")

ACKS = {"all": -1, "-1": -1, "1": 1, "0": 0}
REQUEST_OVERHEAD_BYTES = 512


class Sender:
    def __init__(self, cluster: Cluster, numbering: Numbering, settings: ProducerSettings) -> None:
        self.outbox = Outbox(settings, is_numbered=numbering.is_numbered)
        self._cluster = cluster
        self._accumulator = self.outbox.accumulator
        self._alarm = self.outbox.alarm
        self._lock = self.outbox.lock
        self._numbering = numbering
        self._settlement = Settlement(self.outbox, numbering, settings)
        self._settings = settings
        self._compression = Compression[settings.compression_type.upper()]
        self._links: dict[int, BrokerLink] = {}
        self._blocked_until_s: dict[int, float] = {}
        self._pause_until_s = 0.0
        self._backoff = Backoff(settings)
        self._expects_records = False
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name="fencepost-sender", daemon=True)
        self._thread.start()

    @property
    def is_current_thread(self) -> bool:
        return threading.current_thread() is self._thread

    def expect_records(self) -> None:
        """They are still being made: the name under which they will go can be asked for meanwhile. A transaction has
        its name already."""
        if self._numbering.transactional_id is not None:
            return
        with self._lock:
            self._expects_records = True
            self._alarm.ring_before(time.monotonic())

    def drop_waiting(self, error: ClientError) -> None:
        """Give up everything that is not on its way."""
        self._settlement.drop_waiting(error)

    def begin_to_stop(self) -> None:
        self._is_stopping = True
        self.outbox.close(IllegalState("the producer is closed"))

    def stop(self, timeout_s: float) -> bool:
        """Give up what is left, and end. Returns whether the thread has ended."""
        self.begin_to_stop()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        error: ClientError = IllegalState("the producer was closed before the record was sent")
        try:
            while not self._is_stopping:
                self._turn()
        except BaseException as problem:
            logger.exception("the sender of '%s' has failed", self._settings.client_id)
            error = FatalError(f"the sender has failed: {problem!r}")
            raise
        finally:
            self._is_stopping = True
            self.outbox.close(error)
            for link in self._links.values():
                link.lose()
            self._settlement.drop_all(error)
            with self._lock:
                self._alarm.close()

    def _turn(self) -> None:
        now_s = time.monotonic()
        self._settlement.drop_what_cannot_go(now_s)
        with self._lock:
            self._restart_queues()
            ready = [queue for queue in self._accumulator.busy_queues() if self._accumulator.is_ready(queue, now_s)]
            has_restarts = any(queue.must_restart for queue in self._accumulator.busy_queues())
            expects_records, self._expects_records = self._expects_records, False
            transaction_number = self._numbering.transaction_number
        has_sent = False
        if (ready or has_restarts) and now_s >= self._pause_until_s:
            has_sent = self._send_ready(ready, transaction_number, now_s)
        elif expects_records:
            self._get_ready()
        self._wait(now_s, has_more=has_sent)
        self._receive()

    def _get_ready(self) -> None:
        try:
            self._numbering.prepare([], self._numbering.transaction_number)
        except ClientError as problem:
            logger.debug("asked too early, and again when there is something to send: %s", problem)

    def _restart_queues(self) -> None:
        """Number anew what may be: after a hole, and at a new identity."""
        for queue in self._accumulator.busy_queues():
            self._adopt_identity(queue)
            if self._numbering.can_restart and queue.can_restart:
                identity = self._numbering.next_identity(queue.identity)
                if identity is not None:
                    logger.info("%s goes on as %s", queue.topic_partition, identity)
                    queue.restart(identity)

    def _adopt_identity(self, queue: PartitionQueue) -> None:
        if not self._numbering.is_numbered or queue.unresolved:
            return
        queue.starts_carefully = self._numbering.starts_carefully
        identity = self._numbering.identity_for(queue.identity)
        if identity != queue.identity:
            queue.start(identity)

    def _send_ready(self, ready: Sequence[PartitionQueue], transaction_number: int, now_s: float) -> bool:
        try:
            if self._cluster.needs_refresh or any(self._leader(queue) is None for queue in ready):
                self._cluster.refresh({queue.topic_partition.topic for queue in ready})
            self._numbering.prepare([queue.topic_partition for queue in ready], transaction_number)
        except RetriableError as problem:
            logger.debug("nothing can be sent: %s", problem)
            self._note_trouble(ready, problem)
            self._pause_until_s = now_s + self._backoff.next_pause_s()
            return False
        except ClientError as problem:
            logger.info("nothing can be sent: %s", problem)
            return self._numbering.problem is not None
        by_node: dict[Node, list[PartitionQueue]] = {}
        for queue in ready:
            node = self._leader(queue)
            if node is None:
                self._note_trouble([queue], RetriableBrokerError(f"{queue.topic_partition} has no leader"))
                self._cluster.mark_stale()
                self._pause_until_s = now_s + self._backoff.next_pause_s()
            elif self._blocked_until_s.get(node.node_id, 0.0) <= now_s:
                by_node.setdefault(node, []).append(queue)
        sent = [self._send_to(node, queues) for node, queues in by_node.items()]
        return any(sent)

    def _leader(self, queue: PartitionQueue) -> Node | None:
        return self._cluster.leader(queue.topic_partition)

    def _send_to(self, node: Node, queues: Sequence[PartitionQueue]) -> bool:
        link = self._link(node, queues)
        if link is None or link.request_count >= self._settings.max_in_flight_requests_per_connection:
            return False
        with self._lock:
            # A batch of the next transaction may have taken the place of the one that `prepare` was called for.
            prepared = [queue for queue in queues if self._numbering.is_prepared(queue.topic_partition)]
            batches = self._take(prepared)
        if not batches:
            return len(prepared) < len(queues)
        for batch in batches:
            if not batch.is_finished:
                batch.finish(self._compression)
                self._stamp(batch)
        try:
            self._put_on_wire(link, batches)
        except ClientError as problem:
            self._lose(link, problem, unanswered=batches if self._settings.acks == "0" else ())
            return True
        if self._settings.acks == "0":
            self._settlement.settle([BatchAnswer(batch, ErrorCode.NONE, None) for batch in batches])
        self._backoff.reset()
        return True

    def _take(self, queues: Iterable[PartitionQueue]) -> list[ProducerBatch]:
        now_s = time.monotonic()
        batches: list[ProducerBatch] = []
        size_bytes = REQUEST_OVERHEAD_BYTES
        for queue in queues:
            batch = queue.sendable(now_s)
            if batch is None or (batches and size_bytes + batch.size_bytes > self._settings.max_request_size):
                continue
            self._adopt_identity(queue)
            if queue.take(batch) and batch.is_finished:
                self._stamp(batch)
            size_bytes += batch.size_bytes
            batches.append(batch)
        return batches

    def _stamp(self, batch: ProducerBatch) -> None:
        batch.stamp(batch.identity, batch.base_sequence, is_transactional=self._numbering.transactional_id is not None)

    def _put_on_wire(self, link: BrokerLink, batches: Sequence[ProducerBatch]) -> None:
        metadata = self._cluster.metadata
        topic_ids = {topic: metadata.topic_id(topic) for topic in {batch.topic_partition.topic for batch in batches}}
        version = link.connection.versions.choose(PRODUCE, at_most=self._numbering.produce_version_max)
        if version >= TOPIC_IDS_SINCE and ZERO_UUID in topic_ids.values():
            version = LAST_VERSION_BY_NAME
        request = build_request(
            batches,
            transactional_id=self._numbering.transactional_id,
            acks=ACKS[self._settings.acks],
            timeout_ms=self._settings.request_timeout_ms,
            topic_ids=topic_ids,
        )
        link.send(request, batches, version=version, timeout_s=self._settings.request_timeout_ms / 1000)

    def _note_trouble(self, queues: Sequence[PartitionQueue], problem: ClientError) -> None:
        with self._lock:
            for queue in queues:
                queue.trouble = problem

    def _link(self, node: Node, queues: Sequence[PartitionQueue]) -> BrokerLink | None:
        link = self._links.get(node.node_id)
        if link is not None and link.node == node and not link.connection.is_closed:
            return link
        if link is not None:
            self._lose(link, Disconnected(f"{link.node} is no longer there"))
        try:
            link = self._links[node.node_id] = BrokerLink(node, self._cluster.connect(node))
        except RetriableError as problem:
            logger.info("%s", problem)
            self._note_trouble(queues, problem)
            self._cluster.mark_stale()
            self._blocked_until_s[node.node_id] = time.monotonic() + self._backoff.next_pause_s()
            return None
        except ClientError as problem:
            self.drop_waiting(problem)
            return None
        return link

    def _wait(self, looked_at_s: float, *, has_more: bool) -> None:
        """Sleep until something changes after the moment at which the turn looked."""
        poller = select.poll()
        poller.register(self._alarm, select.POLLIN)
        for link in self._links.values():
            poller.register(link.connection, select.POLLIN)
        pauses = [self._pause_until_s, *self._blocked_until_s.values(), *self._deadlines()]
        pause_s = min((moment_s for moment_s in pauses if moment_s > looked_at_s), default=NEVER_S)
        with self._lock:
            if self._is_stopping:
                return
            until_s = min(pause_s, self._accumulator.wake_at_s(looked_at_s))
            if has_more or self._expects_records:
                until_s = looked_at_s
            self._alarm.set(until_s)
        poller.poll(None if until_s == NEVER_S else max(0.0, until_s - time.monotonic()) * 1000)
        with self._lock:
            self._alarm.clear()

    def _deadlines(self) -> list[float]:
        now_s = time.monotonic()
        return [now_s + link.connection.remaining_s for link in self._links.values() if link.request_count]

    def _receive(self) -> None:
        for link in list(self._links.values()):
            try:
                answers = link.receive()
            except ClientError as problem:
                self._lose(link, problem)
                continue
            if any(known_code(answer.error_code) in REFRESH_METADATA for answer in answers):
                self._cluster.mark_stale()
            if answers:
                self._settlement.settle(answers)

    def _lose(self, link: BrokerLink, problem: ClientError, unanswered: Sequence[ProducerBatch] = ()) -> None:
        """The link is gone: whether its batches were stored is unknown, so they go again as they are."""
        logger.info("%s", problem)
        self._links.pop(link.node.node_id, None)
        self._cluster.mark_stale()
        self._settlement.put_back([*link.lose(), *unanswered], problem)
