"""Topics by a regular expression: which of the cluster's topics are meant, looked up from time to time.

The client matches, with Python's `re`, over the whole name, and tells the coordinator names. So an expression means
the same in a group of either protocol, on every broker. Internal topics are never meant. Topics that come later are
found when metadata is asked for again (`metadata.max.age.ms`).
"""

import re
import time

from fencepost.client.cluster import Cluster


class TopicPattern:
    def __init__(self, cluster: Cluster, expression: str | re.Pattern[str]) -> None:
        self._cluster = cluster
        self._expression = re.compile(expression)
        self._look_at_s = 0.0

    def look(self) -> list[str] | None:
        """The topics that match, in order; None if it is too early to ask again. Raises `RetriableError`."""
        now_s = time.monotonic()
        if now_s < self._look_at_s:
            return None
        self._look_at_s = now_s + self._cluster.settings.retry_backoff_max_ms / 1000
        topics = self._cluster.refresh(None).topics
        self._look_at_s = now_s + self._cluster.settings.metadata_max_age_ms / 1000
        return sorted(name for name, topic in topics.items() if not topic.is_internal and self._is_meant(name))

    def _is_meant(self, name: str) -> bool:
        return self._expression.fullmatch(name) is not None
