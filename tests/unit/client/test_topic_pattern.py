"""Which topics a pattern means, and when they are looked for."""

from types import SimpleNamespace
from typing import Any

import pytest

from fencepost.client.consumer import group_subscription as topic_pattern
from fencepost.client.consumer.group_subscription import TopicPattern
from fencepost.client.exceptions import Disconnected


class FakeCluster:
    """Knows some topics, and counts how often it is asked."""

    def __init__(self, *topics: str, internal: tuple[str, ...] = ()) -> None:
        self.settings = SimpleNamespace(retry_backoff_max_ms=1000, metadata_max_age_ms=60_000)
        self.topics = {name: SimpleNamespace(is_internal=False) for name in topics}
        self.topics.update({name: SimpleNamespace(is_internal=True) for name in internal})
        self.asked: list[Any] = []
        self.is_away = False

    def refresh(self, topics: Any) -> Any:
        self.asked.append(topics)
        if self.is_away:
            raise Disconnected
        return self


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(s=1000.0)
    monkeypatch.setattr(topic_pattern, "time", SimpleNamespace(monotonic=lambda: clock.s))
    return clock


def pattern(cluster: Any, expression: str) -> TopicPattern:
    return TopicPattern(cluster, expression)


def test_the_whole_name_has_to_match_and_internal_topics_never_do(now: SimpleNamespace) -> None:
    cluster = FakeCluster("orders", "orders-eu", "old-orders", internal=("__consumer_offsets", "orders-internal"))
    assert pattern(cluster, "orders.*").look() == ["orders", "orders-eu"]
    assert pattern(cluster, "orders").look() == ["orders"]
    assert pattern(cluster, "_.*").look() == []
    assert cluster.asked == [None] * 3


def test_topics_are_looked_for_again_when_metadata_is_old(now: SimpleNamespace) -> None:
    cluster = FakeCluster("a")
    watched = pattern(cluster, ".*")
    assert watched.look() == ["a"]
    cluster.topics["b"] = SimpleNamespace(is_internal=False)
    now.s += 59
    assert watched.look() is None
    now.s += 1
    assert watched.look() == ["a", "b"]


def test_a_cluster_that_is_away_is_asked_again_soon_and_not_at_once(now: SimpleNamespace) -> None:
    cluster = FakeCluster("a")
    watched = pattern(cluster, ".*")
    cluster.is_away = True
    with pytest.raises(Disconnected):
        watched.look()
    assert watched.look() is None
    cluster.is_away = False
    now.s += 1
    assert watched.look() == ["a"]
