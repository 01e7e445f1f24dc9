"""`TransactionalSink`: one micro-batch of a query is one transaction, for `foreachBatch`; or one batch DataFrame is.

The object lives in the driver's process and keeps its connections open from micro-batch to micro-batch. Nothing is
connected before the first of them. The protocol is `writer.py`, what is written is `frames.py`, how it is encoded is
`encode.py`.
"""

import logging
import re
import uuid
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Literal

from pyspark import SparkContext
from pyspark.sql import DataFrame

from fencepost.client.cluster import Cluster
from fencepost.client.settings import ProducerSettings, client_settings, parse_bootstrap_servers
from fencepost.client.time_limits import Closing
from fencepost.settings import InvalidSetting, as_text
from fencepost.spark.offsets import SourceOffsets, from_json
from fencepost.spark.options import KafkaOptions, is_local
from fencepost.spark.sink.encode import Encoder
from fencepost.spark.sink.errors import QueryStopped, RefusedSetup, SinkEvent, stop_told
from fencepost.spark.sink.frames import Frames, Rows, count_frames, given_topics, record_rows
from fencepost.spark.sink.ledger import Ledger
from fencepost.spark.sink.output_layout import OutputLayout
from fencepost.spark.sink.pin_files import PinFolder
from fencepost.spark.sink.pinning import Pinned, TooMuchForDriver, nothing_pinned, pin_in_driver, pin_in_executors
from fencepost.spark.sink.publish import Publisher
from fencepost.spark.sink.query_log import MicroBatch, QueryLog
from fencepost.spark.sink.token import BatchToken
from fencepost.spark.sink.transaction import Transaction
from fencepost.spark.sink.work import BatchWork, MicroBatchWork, Work
from fencepost.spark.sink.writer import SPARK_TROUBLE, ExactlyOnceWriter, Outcome, Plan
from fencepost.types import TopicPartition

logger = logging.getLogger("fencepost.spark")

Mode = Literal["auto", "driver", "executors"]
Transform = Callable[[DataFrame], Frames]

TRANSACTION_TIMEOUT_MS = 60_000
MAX_RETRIES = 5
DRIVER_BYTES_MAX = 256 * 1024 * 1024
"""What `auto` collects to the driver at most."""
TASK_BYTES_MIN = 16 * 1024 * 1024
LANE_COUNT_MAX = 2
"""Connections over which the driver publishes; executors are several already."""
NAME = re.compile(r"[a-zA-Z0-9._-]{1,100}")
OWN_SETTINGS = ("transactional_id", "enable_idempotence", "acks", "linger_ms", "batch_size")
"""Settings of producers that are the sink's own business."""


class TransactionalSink(Closing):
    def __init__(
        self,
        bootstrap_servers: str | Iterable[str],
        *,
        name: str,
        namespace: str = "default",
        transform: Transform | None = None,
        topic: str | None = None,
        mode: Mode = "auto",
        group_id: str | None = None,
        compression_type: str | None = None,
        transaction_timeout_ms: int = TRANSACTION_TIMEOUT_MS,
        ledger: Literal["strict", "adopt"] = "strict",
        max_retries: int = MAX_RETRIES,
        checkpoint: str | None = None,
        is_stateful: bool | None = None,
        on_event: Callable[[SinkEvent], None] | None = None,
        **client: Any,
    ) -> None:
        _check_arguments(name=name, namespace=namespace, mode=mode, ledger=ledger, client=client)
        servers = bootstrap_servers if isinstance(bootstrap_servers, str) else ",".join(bootstrap_servers)
        settings = client_settings(
            ProducerSettings,
            {**client, "compression_type": compression_type, "transaction_timeout_ms": transaction_timeout_ms},
            kind="transactional sink",
        )
        self.name = name
        self.transactional_id = f"fencepost.{namespace}.{name}"
        self.group_id = group_id or self.transactional_id
        self._transform = transform
        self._topic = topic
        self._mode = mode
        self._may_adopt = ledger == "adopt"
        self._query_log = QueryLog(checkpoint)
        self._is_stateful = is_stateful
        self._on_event = on_event
        self._writer_id = uuid.uuid4().hex
        given = {key: as_text(value) for key, value in client.items() if value is not None}
        self._options = KafkaOptions(servers, tuple(sorted(given.items())))
        self._cluster = Cluster(servers, settings)
        self._layout = OutputLayout(self._cluster, self._options, settings)
        self._writer = ExactlyOnceWriter(
            self._cluster,
            Publisher(self._options, self.transactional_id, lane_count_max=LANE_COUNT_MAX),
            Transaction(self._cluster, self.transactional_id, timeout_ms=transaction_timeout_ms),
            Ledger(self._options, namespace=namespace, name=name),
            group_id=self.group_id,
            max_retries=max_retries,
        )
        self._pin_folder = PinFolder()
        self._last_bytes = 0
        self._is_session_checked = False

    def __call__(self, batch_df: DataFrame, batch_id: int) -> None:
        """Write one micro-batch, exactly once."""
        self._check_session(batch_df.sparkSession.sparkContext)
        found = self._query_log.locate(batch_df, batch_id)
        planned = BatchToken(
            sink=self.name,
            query_id=found.query_id,
            run_id=found.run_id,
            writer=self._writer_id,
            batch_id=batch_id,
            start=found.start,
            end=found.end,
        )
        work = MicroBatchWork(planned=planned, may_adopt=self._may_adopt, offsets=self._own_offsets(found))
        frames = batch_df if self._transform is None else self._transform(batch_df)
        # A union of two branches reads the source twice: keep what was read, if there are branches.
        is_kept = count_frames(frames) > 1
        if is_kept:
            batch_df.persist()
        try:
            outcome = self._write(frames, work, otherwise=batch_df)
        except SPARK_TROUBLE as problem:
            told = stop_told(problem)
            if told is None:
                raise
            raise QueryStopped(f"micro-batch {batch_id} of sink '{self.name}' was given up", told, problem) from None
        finally:
            if is_kept:
                batch_df.unpersist()
        self._tell(batch_id, outcome)

    def write(self, frames: Frames, token: str | None = None) -> bool:
        """Write batch DataFrames in one transaction. Returns False if `token` says that it was done before.

        Without a token a second call writes again: at least once.
        """
        if token is None:
            warnings.warn(
                f"sink '{self.name}': a batch DataFrame without a token is written at least once; "
                "with write(df, token='...') a repetition is recognised",
                stacklevel=2,
            )
        self._check_session(SparkContext._active_spark_context)
        outcome = self._write(frames, BatchWork(given_token=token, writer=uuid.uuid4().hex), otherwise=None)
        self._tell(None, outcome)
        return not outcome.is_skipped

    def close(self) -> None:
        self._pin_folder.close()
        self._writer.close()
        self._cluster.close()

    def _check_session(self, context: SparkContext | None) -> None:
        """Once: it takes many calls to the JVM, and settings like these never change."""
        if not self._is_session_checked:
            check_session(context)
            self._is_session_checked = True

    def _write(self, frames: Frames, work: Work, *, otherwise: DataFrame | None) -> Outcome:
        topics = given_topics(frames, self._topic)
        rows = record_rows(frames, self._topic)
        self._layout.look_up(topics)
        if rows is not None:
            plan = Plan(
                work=work,
                pin=lambda: self._pin(rows, topics),
                topics=topics,
                can_skip=(otherwise is None or self._is_stateful is False) and bool(topics),
            )
            return self._writer.write(plan)
        if otherwise is not None:
            # Nothing is written, but state stores have to see the plan run.
            otherwise.write.format("noop").mode("overwrite").save()
        return self._writer.write(Plan(work=work, pin=nothing_pinned))

    def _pin(self, rows: Rows, topics: list[str]) -> Pinned:
        pinned = self._pin_somewhere(rows.frame, self._layout.encoder(topics, topic=rows.topic))
        self._last_bytes = pinned.manifest.size_bytes
        self._layout.learn(where.topic for where in pinned.manifest.records)
        return pinned

    def _pin_somewhere(self, rows: DataFrame, encoder: Encoder) -> Pinned:
        if self._mode == "driver":
            return self._pin_in_driver(rows, encoder)
        if self._mode == "auto" and self._last_bytes <= DRIVER_BYTES_MAX:
            task_count = max(1, rows.sparkSession.sparkContext.defaultParallelism)
            task_bytes_max = max(TASK_BYTES_MIN, DRIVER_BYTES_MAX // task_count)
            try:
                return self._pin_in_driver(rows, replace(encoder, task_bytes_max=task_bytes_max))
            except TooMuchForDriver:
                logger.info("'%s' goes on in executors mode: too much for the driver", self.name)
        return pin_in_executors(rows, encoder)

    def _pin_in_driver(self, rows: DataFrame, encoder: Encoder) -> Pinned:
        if shares_files(rows.sparkSession.sparkContext):
            encoder = replace(encoder, pin_folder=self._pin_folder.new())
        return pin_in_driver(rows, encoder)

    def _own_offsets(self, found: MicroBatch) -> dict[TopicPartition, int]:
        """The source offsets that belong to the cluster that is written to; those of another stay in the ledger."""
        positions: dict[TopicPartition, int] = {}
        for end in found.end:
            offsets = from_json(end) if isinstance(end, dict) else None
            if offsets is not None and self._is_own(offsets, found.source_servers):
                positions.update(offsets.positions)
        return positions

    def _is_own(self, offsets: SourceOffsets, source_servers: frozenset[str]) -> bool:
        if offsets.cluster_id is not None:
            return offsets.cluster_id == self._cluster_id()
        # Spark's own source says no more than where it was told to look: the same address is the same cluster.
        own = set(parse_bootstrap_servers(self._options.bootstrap_servers))
        return bool(source_servers) and all(own & set(parse_bootstrap_servers(told)) for told in source_servers)

    def _cluster_id(self) -> str | None:
        if self._cluster.metadata.cluster_id is None:
            self._cluster.refresh()
        return self._cluster.metadata.cluster_id

    def _tell(self, batch_id: int | None, outcome: Outcome) -> None:
        if self._on_event is None:
            return
        pinned = outcome.pinned or nothing_pinned()
        manifest = pinned.manifest
        self._on_event(
            SinkEvent(
                name=self.name,
                batch_id=batch_id,
                is_skipped=outcome.is_skipped,
                mode=pinned.mode,
                row_count=0 if outcome.is_skipped else manifest.row_count,
                size_bytes=0 if outcome.is_skipped else manifest.size_bytes,
                partition_count=len(manifest.records),
                retry_count=outcome.retry_count,
                encode_ms=outcome.encode_ms,
                commit_ms=outcome.commit_ms,
            )
        )


def _check_arguments(*, name: str, namespace: str, mode: str, ledger: str, client: dict[str, Any]) -> None:
    for what, value in (("name", name), ("namespace", namespace)):
        if not isinstance(value, str) or not NAME.fullmatch(value):
            raise InvalidSetting(
                f"{what}={value!r}: a sink needs a {what} of letters, digits, '.', '_' and '-', which it keeps for "
                "ever: its transactional id, its ledger and its group are called after it"
            )
    if mode not in ("auto", "driver", "executors"):
        raise InvalidSetting(f"mode={mode!r}: expected auto, driver or executors")
    if ledger not in ("strict", "adopt"):
        raise InvalidSetting(f"ledger={ledger!r}: expected strict or adopt")
    for setting in OWN_SETTINGS:
        if setting in client:
            raise InvalidSetting(f"{setting} is the sink's own: leave it out")


def shares_files(context: SparkContext) -> bool:
    """Whether the driver can read what its tasks have written to files."""
    return is_local(context.master or "")


def check_session(context: SparkContext | None) -> None:
    if context is not None and context.getConf().get("spark.speculation", "false") == "true":
        raise RefusedSetup(
            "spark.speculation=true: two attempts of one task would publish at the same time. Switch it off for this "
            "application"
        )
