"""A `read_committed` reader that counts what it sees, as it sees it: the curve of what is visible."""

import threading
import time

from fencepost.client import Consumer
from fencepost.lab.demo.timeline import Curve

POLL_S = 0.3


class Watcher:
    """A thread that reads a topic to its end, again and again. It outlives a broker that is killed."""

    def __init__(self, bootstrap_servers: str, topic: str, *, name: str, started_s: float) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._topic = topic
        self._started_s = started_s
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"reader of {topic}", daemon=True)
        self.curve = Curve(name)

    @property
    def seen(self) -> int:
        return self.curve.points[-1][1] if self.curve.points else 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_stopping.set()
        self._thread.join()

    def _run(self) -> None:
        with Consumer(self._bootstrap_servers, auto_offset_reset="earliest") as consumer:
            consumer.assign(consumer.partitions_for(self._topic))
            while not self._is_stopping.is_set():
                rows = consumer.poll_arrow(timeout=POLL_S).num_rows
                if rows:
                    self.curve.points.append((time.monotonic() - self._started_s, self.seen + rows))
