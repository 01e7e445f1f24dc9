"""What the driver knows of the output topics, and the encoder that takes it to the tasks."""

import threading
import time
from collections.abc import Iterable

from fencepost.client.cluster import Cluster
from fencepost.client.exceptions import ClientError
from fencepost.client.settings import ProducerSettings
from fencepost.spark.options import KafkaOptions
from fencepost.spark.sink.encode import Encoder
from fencepost.spark.sink.errors import InvalidRow
from fencepost.spark.sink.output_topics import OutputTopic, look_up

SLOT_COUNT_MAX = 256


class OutputLayout:
    """Threads may share a sink: one of them looks topics up at a time."""

    def __init__(self, cluster: Cluster, options: KafkaOptions, settings: ProducerSettings) -> None:
        self._cluster = cluster
        self._options = options
        self._compression_type = settings.compression_type
        self._max_age_s = settings.metadata_max_age_ms / 1000
        self._known: dict[str, OutputTopic] = {}
        self._learned: dict[str, None] = {}
        self._looked_at_s = float("-inf")
        self._lock = threading.RLock()

    def learn(self, topics: Iterable[str]) -> None:
        """Topics that rows have named: tasks need not ask for them again."""
        with self._lock:
            self._learned.update(dict.fromkeys(topics))

    def encoder(self, topics: Iterable[str], *, topic: str | None = None) -> Encoder:
        """For rows of these topics and of any other. Raises `InvalidRow` if one of them does not exist.

        `topic` is where rows without a column for it go.
        """
        with self._lock:
            self.look_up(topics)
            all_known = dict(self._known)
        slots: dict[str, int] = {}
        slot_count = 0
        for name, known in all_known.items():
            slots[name] = slot_count
            slot_count += known.metadata.partition_count
        return Encoder(
            options=self._options,
            topics=all_known,
            compression_type=self._compression_type,
            slot_count=max(1, min(slot_count, SLOT_COUNT_MAX)),
            slots=slots,
            topic=topic,
        )

    def look_up(self, topics: Iterable[str]) -> None:
        """Know these topics, which the cluster may create now. Raises `InvalidRow` if one of them does not exist."""
        with self._lock:
            self._look_up(topics)

    def _look_up(self, topics: Iterable[str]) -> None:
        now_s = time.monotonic()
        if now_s - self._looked_at_s > self._max_age_s:
            self._known.clear()
            self._looked_at_s = now_s
        for name in topics:
            if name not in self._known:
                self._known[name] = look_up(self._cluster, name)
        for name in [name for name in self._learned if name not in self._known]:
            try:
                self._known[name] = look_up(self._cluster, name)
            except (InvalidRow, ClientError):
                # It is gone, or cannot be asked for now: a task that needs it will say so.
                del self._learned[name]
