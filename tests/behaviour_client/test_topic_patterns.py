"""Subscriptions by a regular expression: topics that match come and go, in groups of both protocols."""

import re
from typing import Any

import pytest

from fencepost.client import Consumer
from fencepost.client.admin.admin import Admin
from fencepost.client.exceptions import IllegalState
from tests.behaviour_client.conftest import two_brokers
from tests.behaviour_client.consumer_reading import produce, read
from tests.interop.support import wait_for

PROTOCOLS: dict[str, dict[str, Any]] = {
    "classic": {"group_protocol": "classic", "heartbeat_interval_ms": 200},
    "kip-848": {"group_protocol": "consumer"},
}
QUICK: dict[str, Any] = {"metadata_max_age_ms": 200, "auto_offset_reset": "earliest"}


pytestmark = two_brokers


def topics_of(consumer: Consumer) -> set[str]:
    consumer.poll(0.1, max_records=0)
    return {where.topic for where in consumer.assignment()}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_topics_that_match_are_read_also_those_that_are_created_later_and_until_they_are_deleted(
    servers: str, admin: Admin, name: str, protocol: str
) -> None:
    for topic in (f"{name}.eu", f"{name}.us", f"{name}.us.old", f"not-{name}.eu"):
        admin.create_topic(topic, 2, 1)
    told: list[tuple[str, set[str]]] = []
    with Consumer(servers, group_id=name, **QUICK, **PROTOCOLS[protocol]) as consumer:
        consumer.subscribe(
            pattern=re.escape(name) + r"\.[a-z]+",
            on_assigned=lambda partitions: told.append(("assigned", {where.topic for where in partitions})),
            on_revoked=lambda partitions: told.append(("revoked", {where.topic for where in partitions})),
        )
        wait_for("the topics that match", lambda: topics_of(consumer) == {f"{name}.eu", f"{name}.us"})
        assert consumer.subscription() == [f"{name}.eu", f"{name}.us"]

        admin.create_topic(f"{name}.asia", 2, 1)
        produce(servers, f"{name}.asia", [b"first"], partition=1)
        assert [record.value for record in read(consumer, 1)] == [b"first"]
        assert consumer.subscription() == [f"{name}.asia", f"{name}.eu", f"{name}.us"]

        admin.delete_topics([f"{name}.eu"])
        wait_for("the rest", lambda: topics_of(consumer) == {f"{name}.asia", f"{name}.us"})
        # Whoever asks for a topic by name may create it; a pattern asks for none.
        wait_for(
            "another look", lambda: topics_of(consumer) and consumer.subscription() == [f"{name}.asia", f"{name}.us"]
        )
        assert f"{name}.eu" not in admin.describe_topics()
    assert ("revoked", {f"{name}.asia", f"{name}.us"}) in told


def test_a_pattern_that_matches_nothing_yet_is_waited_with(fencepost_servers: str, name: str) -> None:
    with Admin(fencepost_servers) as admin, Consumer(fencepost_servers, group_id=name, **QUICK) as consumer:
        consumer.subscribe(pattern=re.compile(f"{name}-.*"))
        assert consumer.poll(0.5) == []
        assert consumer.assignment() == []
        admin.create_topic(f"{name}-1", 1, 1)
        wait_for("the topic", lambda: topics_of(consumer) == {f"{name}-1"})


def test_internal_topics_are_never_meant(fencepost_servers: str, name: str) -> None:
    with Admin(fencepost_servers) as admin, Consumer(fencepost_servers, group_id=name, **QUICK) as consumer:
        admin.create_topic(name, 1, 1)
        consumer.subscribe(pattern=f"{name}|__consumer_offsets|__transaction_state")
        wait_for("the topic", lambda: topics_of(consumer) == {name})
        assert consumer.subscription() == [name]


def test_names_take_the_place_of_a_pattern_and_a_pattern_that_of_names(fencepost_servers: str, name: str) -> None:
    with Admin(fencepost_servers) as admin, Consumer(fencepost_servers, group_id=name, **QUICK) as consumer:
        for topic in (f"{name}-1", f"{name}-2", f"not-{name}-1"):
            admin.create_topic(topic, 1, 1)
        consumer.subscribe(pattern=f"{name}-.")
        wait_for("both", lambda: topics_of(consumer) == {f"{name}-1", f"{name}-2"})
        consumer.subscribe([f"{name}-1"])
        wait_for("one", lambda: topics_of(consumer) == {f"{name}-1"})
        consumer.subscribe(pattern=f"{name}-2")
        wait_for("the other", lambda: topics_of(consumer) == {f"{name}-2"})


def test_a_subscription_is_by_names_or_by_a_pattern(fencepost_servers: str, name: str) -> None:
    with Consumer(fencepost_servers, group_id=name) as consumer:
        with pytest.raises(IllegalState, match="either"):
            consumer.subscribe()
        with pytest.raises(IllegalState, match="either"):
            consumer.subscribe(["a"], pattern="a")
        with pytest.raises(re.error):
            consumer.subscribe(pattern="(")
