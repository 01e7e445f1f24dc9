"""A consumer whose requests are cut off, answered late or refused: every record once, in order, whatever happens.

What each refusal means to each request: `test_consumer_error_codes.py`.
"""

import time
from typing import Any

import pytest

from fencepost.client import Consumer
from fencepost.client.admin.admin import Admin
from fencepost.client.exceptions import (
    CommitFailed,
    CorruptRecord,
    IllegalState,
    RetriableError,
    Timeout,
)
from fencepost.errors import ErrorCode
from tests.behaviour_client.conftest import one_broker, two_brokers
from tests.behaviour_client.consumer_reading import produce, read
from tests.behaviour_client.fault_proxy import CUT_AFTER, CUT_BEFORE, DAMAGE, FaultProxy, delay, deny
from tests.interop.support import wait_for

pytestmark = one_broker

QUICK: dict[str, Any] = {
    "retry_backoff_ms": 10,
    "retry_backoff_max_ms": 50,
    "request_timeout_ms": 2000,
    "auto_offset_reset": "earliest",
    "fetch_max_wait_ms": 50,
    "max_partition_fetch_bytes": 500,
}
CLASSIC = {
    "group_protocol": "classic",
    "partition_assignment_strategy": "cooperative-sticky",
    "session_timeout_ms": 6000,
    "heartbeat_interval_ms": 50,
}
KIP_848 = {"group_protocol": "consumer"}
MEMBERSHIPS = {"classic": CLASSIC, "kip-848": KIP_848}
APIS = {
    "classic": ["Metadata", "FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat"],
    "kip-848": [
        "ApiVersions",
        "Metadata",
        "FindCoordinator",
        "ConsumerGroupHeartbeat",
        "OffsetFetch",
        "ListOffsets",
        "Fetch",
        "OffsetCommit",
    ],
}
FAULTS = {"cut before": CUT_BEFORE, "cut after": CUT_AFTER, "late": delay(0.15)}


@pytest.fixture
def filled(servers: str, topic: str) -> str:
    """A topic with a hundred records in each of three partitions."""
    for partition in range(3):
        for first in range(0, 100, 20):
            produce(servers, topic, [b"%d" % n for n in range(first, first + 20)], partition=partition)
    return topic


def read_everything(consumer: Consumer, *, count: int = 300) -> None:
    """Commits after every poll; fails on a record that comes twice, or not in its turn."""
    expected = dict.fromkeys(range(3), 0)

    def probe() -> bool:
        for record in consumer.poll(0.1, max_records=20):
            assert record.offset == expected[record.partition]
            assert record.value == b"%d" % record.offset
            expected[record.partition] += 1
        consumer.commit_sync(timeout=20)
        return sum(expected.values()) >= count

    wait_for("every record", probe, pause_s=0)
    committed = consumer.committed(timeout=20)
    assert {where.partition: offset and offset.offset for where, offset in committed.items()} == expected


@two_brokers
@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize(("membership", "api_name"), [(name, api) for name, apis in APIS.items() for api in apis])
def test_connections_that_end_and_answers_that_are_late_cost_no_record(
    proxy: FaultProxy, filled: str, membership: str, api_name: str, kind: str
) -> None:
    if kind == "late" or api_name not in ("JoinGroup", "SyncGroup"):
        proxy.plan(api_name, FAULTS[kind], None, FAULTS[kind], FAULTS[kind])
    else:
        # A classic member that is cut off while joining is in the group until its session ends: once is enough.
        proxy.plan(api_name, FAULTS[kind])
    with Consumer(proxy.bootstrap_servers, [filled], group_id=filled, **QUICK, **MEMBERSHIPS[membership]) as consumer:
        wait_for("an assignment", lambda: consumer.poll(0.1, max_records=0) or len(consumer.assignment()) == 3)
        read_everything(consumer)
    assert proxy.used


@pytest.mark.parametrize(
    ("membership", "api_name", "code"),
    [
        ("classic", "Heartbeat", ErrorCode.UNKNOWN_MEMBER_ID),
        ("classic", "Heartbeat", ErrorCode.ILLEGAL_GENERATION),
        ("classic", "Heartbeat", ErrorCode.REBALANCE_IN_PROGRESS),
        ("classic", "SyncGroup", ErrorCode.REBALANCE_IN_PROGRESS),
        ("kip-848", "ConsumerGroupHeartbeat", ErrorCode.FENCED_MEMBER_EPOCH),
        ("kip-848", "ConsumerGroupHeartbeat", ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_member_that_is_told_to_join_again_does_and_goes_on_from_what_is_committed(
    proxy: FaultProxy, filled: str, membership: str, api_name: str, code: ErrorCode
) -> None:
    proxy.plan(api_name, *([deny(code)] if api_name == "SyncGroup" else [None, deny(code)]))
    seen: set[tuple[int, int]] = set()
    committed: dict[int, int] = {}
    with Consumer(proxy.bootstrap_servers, [filled], group_id=filled, **QUICK, **MEMBERSHIPS[membership]) as consumer:

        def probe() -> bool:
            records = consumer.poll(0.1, max_records=10)
            for record in records:
                assert record.offset >= committed.get(record.partition, 0)
                seen.add((record.partition, record.offset))
            try:
                consumer.commit_sync(timeout=20)
                committed.update({record.partition: record.offset + 1 for record in records})
            except CommitFailed:
                pass
            return len(seen) == 300 and len(proxy.used) == 1

        wait_for("every record", probe, pause_s=0)


@pytest.mark.parametrize("is_arrow", [False, True], ids=["records", "arrow"])
def test_a_damaged_batch_is_named_and_what_lies_before_it_is_delivered(
    proxy: FaultProxy, filled: str, is_arrow: bool
) -> None:
    proxy.plan("Fetch", DAMAGE)
    # The answer that is damaged must not be given up by a busy machine.
    settings = QUICK | {"max_partition_fetch_bytes": 1_000_000, "request_timeout_ms": 30_000}
    with Consumer(proxy.bootstrap_servers, **settings) as consumer:
        consumer.assign([(filled, 0)])
        seen: list[int] = []

        def probe() -> bool:
            if is_arrow:
                seen.extend(consumer.poll_arrow(0.1)["offset"].to_pylist())
            else:
                seen.extend(record.offset for record in consumer.poll(0.1))
            return False

        with pytest.raises(CorruptRecord) as found:
            wait_for("the damage", probe, pause_s=0)
        assert found.value.topic_partition == (filled, 0)
        assert found.value.offset is not None
        assert 0 < found.value.offset < 100
        assert seen == list(range(found.value.offset))
        with pytest.raises(CorruptRecord, match="checksum"):
            probe()
        consumer.seek((filled, 0), found.value.offset)
        wait_for("the rest", lambda: probe() or len(seen) == 100, pause_s=0)
        assert seen == list(range(100))


def test_a_broker_that_is_away_is_waited_for(proxy: FaultProxy, filled: str) -> None:
    with Consumer(proxy.bootstrap_servers, **QUICK) as consumer:
        proxy.plan("Metadata", *[CUT_BEFORE] * 400)
        consumer.assign([(filled, 0)])
        assert consumer.poll(0.3) == []
        with pytest.raises((RetriableError, Timeout)):
            consumer.position((filled, 0), timeout=0.2)
        proxy.forget_plans()
        wait_for("the records", lambda: consumer.poll(0.1), pause_s=0)


def test_a_fetch_that_is_never_answered_is_given_up_and_sent_again(proxy: FaultProxy, filled: str) -> None:
    settings = QUICK | {"request_timeout_ms": 300}
    with Consumer(proxy.bootstrap_servers, **settings) as consumer:
        consumer.assign([(filled, 0)])
        assert consumer.position((filled, 0)) == 0
        proxy.plan("Fetch", delay(4.0))
        started = time.monotonic()
        wait_for("the records", lambda: consumer.poll(0.1), pause_s=0)
        assert time.monotonic() - started < 3.0


def test_closing_while_the_broker_does_not_answer_takes_no_longer_than_it_may(proxy: FaultProxy, topic: str) -> None:
    consumer = Consumer(proxy.bootstrap_servers, [topic], group_id=topic, **QUICK, **CLASSIC)
    wait_for("an assignment", lambda: consumer.poll(0.1) or consumer.assignment())
    for api_name in ("LeaveGroup", "Heartbeat", "Fetch"):
        proxy.plan(api_name, *[delay(5.0)] * 10)
    started = time.monotonic()
    consumer.close(timeout=0.5)
    assert time.monotonic() - started < 3.0
    with pytest.raises(IllegalState):
        consumer.poll(0)


@two_brokers
def test_an_answer_of_a_deleted_topic_in_the_socket_is_not_read_as_the_new_topics(
    servers: str, admin: Admin, topic: str
) -> None:
    settings = QUICK | {"fetch_max_wait_ms": 10_000, "max_partition_fetch_bytes": 1_000_000}
    with Consumer(servers, allow_auto_create_topics=False, metadata_max_age_ms=500, **settings) as consumer:
        consumer.assign([(topic, 0)])
        assert consumer.position((topic, 0)) == 0
        assert consumer.poll(0.05) == []
        produce(servers, topic, [b"old %d" % number for number in range(10)])
        admin.delete_topics([topic])
        wait_for("the end of the topic", lambda: topic not in admin.describe_topics())
        admin.create_topic(topic, 3, 1)
        produce(servers, topic, [b"new %d" % number for number in range(15)])
        time.sleep(0.6)  # the metadata is too old now: the next poll looks at the topic before the socket
        assert [record.value for record in read(consumer, 15)] == [b"new %d" % number for number in range(15)]


def test_a_partition_without_a_leader_costs_no_question_for_every_poll(proxy: FaultProxy, filled: str) -> None:
    settings = QUICK | {"retry_backoff_ms": 1000, "retry_backoff_max_ms": 1000}
    with Consumer(proxy.bootstrap_servers, **settings) as consumer:
        consumer.assign([(filled, 0), (filled, 99)])
        consumer.seek((filled, 0), 0)
        consumer.seek((filled, 99), 0)
        started, seen = time.monotonic(), 0
        while seen < 100:
            seen += len(consumer.poll(0.1, max_records=1))
        # The first is the one that every consumer asks.
        assert proxy.seen.count("Metadata") <= 3 + (time.monotonic() - started) / 0.8
