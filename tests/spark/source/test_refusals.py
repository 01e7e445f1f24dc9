"""What a cluster refuses about a topic is said by name, at once where no waiting helps."""

import dataclasses
import time
from typing import Any

import pytest

from fencepost.client.cluster import Cluster
from fencepost.client.exceptions import Timeout, TopicAuthorization
from fencepost.client.net.metadata import ClusterMetadata
from fencepost.errors import ErrorCode
from fencepost.server.embedded import EmbeddedBroker
from tests.spark.source.broker_use import create
from tests.spark.source.query import Query


def refuse(monkeypatch: pytest.MonkeyPatch, topic: str, error_code: ErrorCode) -> None:
    """Every answer about this topic is a refusal; the embedded broker itself permits everything."""
    real = Cluster.refresh

    def refresh(self: Cluster, *arguments: Any, **keywords: Any) -> ClusterMetadata:
        found = real(self, *arguments, **keywords)
        refused = dataclasses.replace(found.topics[topic], error_code=error_code, partitions={})
        return dataclasses.replace(found, topics={**found.topics, topic: refused})

    monkeypatch.setattr(Cluster, "refresh", refresh)


def test_a_topic_that_may_not_be_read_is_named_at_once(broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    create(broker, "purchases")
    create(broker, "secrets")
    refuse(monkeypatch, "secrets", ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    started_s = time.monotonic()
    with pytest.raises(TopicAuthorization, match=r"topic 'secrets'.*TOPIC_AUTHORIZATION_FAILED"):
        Query(broker, "purchases,secrets", **{"kafka.default.api.timeout.ms": "20000"}).trigger()
    assert time.monotonic() - started_s < 10


def test_a_topic_whose_leader_is_not_elected_in_time_is_named(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(broker, "purchases")
    refuse(monkeypatch, "purchases", ErrorCode.LEADER_NOT_AVAILABLE)
    with pytest.raises(Timeout, match=r"the last try said: topic 'purchases'.*LEADER_NOT_AVAILABLE"):
        Query(broker, **{"kafka.default.api.timeout.ms": "1000"}).trigger()
