"""Groups of three Java members: they join, one is killed, one leaves; what is committed is done once, and all of it is.

A member commits what it polled and then says so. The ranges that were committed must cover every partition without a
gap and without an overlap.
"""

import contextlib
import uuid
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.java.java_program import JavaClient, RunningProgram
from tests.interop.java.topics import create_topics

pytestmark = pytest.mark.kafka

PARTITIONS = 6
WAVE = 120
CLASSIC = ["session.timeout.ms", "2000", "heartbeat.interval.ms", "300"]
ASSIGNOR = "partition.assignment.strategy"
EAGER = [*CLASSIC, ASSIGNOR, "org.apache.kafka.clients.consumer.RangeAssignor"]
COOPERATIVE = [*CLASSIC, ASSIGNOR, "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"]
STATIC = [*CLASSIC, "is.static", "true"]
KIP_848 = ["group.protocol", "consumer"]


class Feed:
    def __init__(self, broker: EmbeddedBroker, topic: str) -> None:
        self._topic = topic
        self._producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 0})
        create_topics(broker, {topic: PARTITIONS})
        self.sent = 0

    def wave(self) -> None:
        """The same number of records for every partition."""
        for number in range(WAVE):
            self._producer.produce(self._topic, value=str(self.sent + number), partition=number % PARTITIONS)
        self._producer.flush(20)
        self.sent += WAVE


def committed_ranges(*programs: RunningProgram) -> dict[int, list[tuple[int, int]]]:
    ranges: dict[int, list[tuple[int, int]]] = {partition: [] for partition in range(PARTITIONS)}
    for program in programs:
        for line in list(program.gather()):
            if line.startswith("committed "):
                partition, begin, end = map(int, line.split()[2:])
                ranges[partition].append((begin, end))
    return {partition: sorted(found) for partition, found in ranges.items()}


def wait_for_commits(feed: Feed, reader: RunningProgram, *others: RunningProgram) -> None:
    """Until everything that was sent has been committed by somebody."""
    while sum(end - begin for found in committed_ranges(reader, *others).values() for begin, end in found) < feed.sent:
        reader.wait_for(lambda line: line.startswith("committed "), "commit")


def assert_each_record_committed_once(feed: Feed, *programs: RunningProgram) -> None:
    for partition, ranges in committed_ranges(*programs).items():
        ends = [0, *(end for _, end in ranges)]
        begins = [*(begin for begin, _ in ranges), feed.sent // PARTITIONS]
        assert ends == begins, f"partition {partition}: {ranges}"


@contextlib.contextmanager
def members(
    java: JavaClient, broker: EmbeddedBroker, group: str, names: str, settings: list[str]
) -> Iterator[RunningProgram]:
    with java.start("Members", broker.bootstrap_servers, group, group, names, *settings) as program:
        yield program


@pytest.mark.parametrize(
    ("client", "settings"),
    [
        pytest.param("java_3", EAGER, id="3.9-eager"),
        pytest.param("java_3", COOPERATIVE, id="3.9-cooperative"),
        pytest.param("java_3", STATIC, id="3.9-static"),
        pytest.param("java_4", EAGER, id="4.3-eager"),
        pytest.param("java_4", COOPERATIVE, id="4.3-cooperative"),
        pytest.param("java_4", STATIC, id="4.3-static"),
        pytest.param("java_4", KIP_848, id="4.3-kip-848"),
    ],
)
def test_members_join_leave_and_crash_without_a_record_lost_or_done_twice(
    broker: EmbeddedBroker, request: pytest.FixtureRequest, client: str, settings: list[str]
) -> None:
    java: JavaClient = request.getfixturevalue(client)
    group = f"group-{uuid.uuid4().hex[:6]}"
    feed = Feed(broker, group)
    feed.wave()
    with (
        members(java, broker, group, "one,two", settings) as steady,
        members(java, broker, group, "victim", settings) as victim,
    ):
        victim.wait_for(lambda line: line.startswith("assigned victim") and not line.endswith(" 0"), "share")
        victim.tell("stall victim")
        feed.wave()
        feed.wave()
        victim.wait_for(lambda line: line == "stalled victim", "stall")
        victim.kill()
        wait_for_commits(feed, steady, victim)
        steady.tell("leave two")
        steady.wait_for(lambda line: line == "left two", "departure")
        feed.wave()
        wait_for_commits(feed, steady, victim)
        assert_each_record_committed_once(feed, steady, victim)
        assert not [line for line in steady.said if line.startswith("failed")]
