"""A stage for a limitation: on the cluster that is named, or on an embedded broker with the settings that it needs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from examples.documents.stage import CAREFUL_SESSION_MS, QUICK_SESSION_MS, Stage
from examples.questions.asking import open_cluster


@contextmanager
def open_ground(bootstrap_servers: str | None, settings: Mapping[str, str] | None = None) -> Iterator[Stage]:
    session_timeout_ms = CAREFUL_SESSION_MS if bootstrap_servers else QUICK_SESSION_MS
    with (
        open_cluster(bootstrap_servers, settings) as servers,
        Stage(servers, session_timeout_ms=session_timeout_ms) as stage,
    ):
        yield stage
