"""Groups of processes on our client, by both protocols: members join, leave, crash and come back."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fencepost.client import Consumer, TopicPartition
from fencepost.client.exceptions import CommitFailed, FencedInstanceId, Timeout
from fencepost.lab.apache_kafka import ApacheKafka
from fencepost.server.embedded import EmbeddedBroker
from tests.behaviour_client import consumer_reading
from tests.behaviour_client.conftest import two_brokers
from tests.behaviour_client.consumer_reading import is_out, read
from tests.interop import copier_life
from tests.interop.confluent.clients import create_topic, producer
from tests.interop.group_life import (
    PARTITIONS,
    Group,
    a_static_member_comes_back,
    members_join_leave_and_crash,
    partition_of,
)
from tests.interop.support import DEADLINE_S, wait_for
from tests.peers import require_jars

# Kafka's waiting times, cut to what a test can wait for.
QUICK_TIMERS = {
    "log.retention.ms": "-1",  # records carry times of long ago, and the first check comes after half a minute
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
    "group.consumer.session.timeout.ms": "2500",
    "group.consumer.heartbeat.interval.ms": "200",
    "offsets.topic.num.partitions": "3",
}
KAFKA_TIMERS = {"group.consumer.min.session.timeout.ms": "100", "group.consumer.min.heartbeat.interval.ms": "50"}
CLASSIC = {"group_protocol": "classic", "session_timeout_ms": 1500, "heartbeat_interval_ms": 200}
PROTOCOLS = {
    "range": {**CLASSIC, "partition_assignment_strategy": "range"},
    "roundrobin": {**CLASSIC, "partition_assignment_strategy": "roundrobin"},
    "cooperative": {**CLASSIC, "partition_assignment_strategy": "cooperative-sticky"},
    "kip-848": {"group_protocol": "consumer"},
}
Settings = dict[str, Any]


@pytest.fixture(scope="module")
def fencepost_group_servers() -> Iterator[str]:
    with EmbeddedBroker(settings=QUICK_TIMERS) as broker:
        yield broker.bootstrap_servers


@pytest.fixture(scope="module")
def kafka_group_servers() -> Iterator[str]:
    require_jars()
    with ApacheKafka(settings=QUICK_TIMERS | KAFKA_TIMERS, heap="512m") as broker:
        yield broker.bootstrap_servers


pytestmark = pytest.mark.brokers("fencepost_group", "kafka_group")
OURS = pytest.mark.brokers("fencepost_group")
"""For what happens in the client alone."""


@pytest.fixture(params=["range", "cooperative", "kip-848"])
def settings(request: pytest.FixtureRequest) -> Settings:
    return dict(PROTOCOLS[request.param])


@pytest.fixture
def topic(servers: str, name: str) -> str:
    create_topic(servers, name, partitions=PARTITIONS)
    return name


@pytest.fixture
def group_of(servers: str, topic: str, tmp_path: Path) -> Callable[[Settings], Group]:
    def build(settings: Settings) -> Group:
        arguments = {"bootstrap_servers": servers, "topic": topic, "group": topic, "settings": settings}
        return Group(
            module="tests.behaviour_client.consumer_member",
            folder=tmp_path,
            arguments=arguments,
            produce=lambda first, count: produce(servers, topic, first, count),
        )

    return build


@pytest.fixture
def join(servers: str, topic: str) -> Iterator[Callable[..., Consumer]]:
    """Members inside this process, closed at the end."""
    members: list[Consumer] = []

    def build(**settings: Any) -> Consumer:
        member = Consumer(servers, [topic], group_id=topic, auto_offset_reset="earliest", **settings)
        members.append(member)
        return member

    yield build
    for member in members:
        member.close()


def produce(servers: str, topic: str, first: int, count: int) -> None:
    client = producer(servers, enable_idempotence=True)
    for number, partition in partition_of(range(first, first + count)):
        client.produce(topic, b"%d" % number, partition=partition)
    assert client.flush(DEADLINE_S) == 0


@pytest.mark.parametrize("protocol", ["roundrobin", "cooperative", "kip-848"])
def test_members_join_leave_and_crash_without_losing_or_repeating_a_committed_record(
    group_of: Callable[[Settings], Group], protocol: str
) -> None:
    with group_of(PROTOCOLS[protocol]) as group:
        members_join_leave_and_crash(group)


@pytest.mark.parametrize("protocol", ["range", "cooperative"])
def test_a_static_member_that_is_killed_comes_back_to_its_partitions_without_a_rebalance(
    group_of: Callable[[Settings], Group], protocol: str
) -> None:
    with group_of(PROTOCOLS[protocol] | {"session_timeout_ms": 45_000}) as group:
        a_static_member_comes_back(group, killed=True)


@two_brokers  # with the session timeout that users have: a start may take long
def test_a_static_member_of_a_kip_848_group_that_closes_comes_back_to_its_partitions_without_a_rebalance(
    group_of: Callable[[Settings], Group],
) -> None:
    with group_of(PROTOCOLS["kip-848"]) as group:
        a_static_member_comes_back(group, killed=False)


def test_a_killed_static_member_of_a_kip_848_group_is_waited_for_until_its_session_ends(
    group_of: Callable[[Settings], Group],
) -> None:
    with group_of(PROTOCOLS["kip-848"]) as group:
        first = group.join("first", instance_id="the one")
        group.wait_until_shared_out()
        group.crash(first)
        group.join("second", instance_id="the one")
        group.produce_round()
        group.wait_until_all_committed()
        group.check_every_record()


def test_a_second_static_member_with_the_same_instance_id_fences_the_first(join: Callable[..., Consumer]) -> None:
    first = join(**PROTOCOLS["range"], group_instance_id="the one")
    poll_until(first, lambda: first.assignment())
    second = join(**PROTOCOLS["range"], group_instance_id="the one")
    poll_until(second, lambda: second.assignment())
    with pytest.raises(FencedInstanceId):
        poll_until(first, lambda: False)


def test_callbacks_tell_what_comes_and_goes(
    servers: str, topic: str, join: Callable[..., Consumer], settings: Settings
) -> None:
    told: list[tuple[str, list[TopicPartition]]] = []
    first = Consumer(servers, group_id=topic, **settings)
    with first:
        first.subscribe(
            [topic],
            on_assigned=lambda partitions: told.append(("assigned", partitions)),
            on_revoked=lambda partitions: told.append(("revoked", partitions)),
        )
        poll_until(first, lambda: len(first.assignment()) == PARTITIONS)
        assert told == [("assigned", [TopicPartition(topic, index) for index in range(PARTITIONS)])]
        second = join(**settings)
        poll_until([first, second], lambda: len(first.assignment()) == len(second.assignment()) == PARTITIONS // 2)
        assert replay(told) == first.assignment()
        assert sorted(first.assignment() + second.assignment()) == told[0][1]
    assert replay(told) == []


@OURS
def test_callbacks_may_ask_the_consumer_commit_and_seek(servers: str, topic: str, settings: Settings) -> None:
    produce(servers, topic, 0, 60)
    with Consumer(servers, group_id=topic, auto_offset_reset="earliest", **settings) as member:
        positions: list[int] = []

        def on_assigned(partitions: list[TopicPartition]) -> None:
            for where in partitions:
                positions.append(member.position(where))
                member.seek(where, 7)

        member.subscribe([topic], on_assigned=on_assigned, on_revoked=lambda _: member.commit_sync())
        assert {record.offset for record in read(member, 18)} == {7, 8, 9}
        assert positions == [0] * PARTITIONS
    with Consumer(servers, group_id=topic) as after:
        committed = after.committed([(topic, index) for index in range(PARTITIONS)])
        assert {offset and offset.offset for offset in committed.values()} == {10}


@OURS
@pytest.mark.parametrize("problem", [ZeroDivisionError(), Timeout("the program's own, not the group's")])
def test_what_a_callback_raises_comes_out_of_poll_and_it_is_called_again_before_the_first_record(
    servers: str, topic: str, settings: Settings, problem: Exception
) -> None:
    consumer_reading.produce(servers, topic, [b"record"])
    told: list[list[TopicPartition]] = []

    def refuse_twice(partitions: list[TopicPartition]) -> None:
        told.append(partitions)
        if len(told) < 3:
            raise problem

    with Consumer(servers, group_id=topic, auto_offset_reset="earliest", **settings) as member:
        member.subscribe([topic], on_assigned=refuse_twice)
        for _ in range(2):
            with pytest.raises(type(problem)):
                poll_until(member, lambda: False)
            assert len(member.assignment()) == PARTITIONS
        assert [record.value for record in read(member, 1)] == [b"record"]
    assert len(told) == 3
    assert told[0] == told[1] == told[2]


@OURS
def test_subscribing_to_other_topics_changes_what_is_assigned(servers: str, topic: str, settings: Settings) -> None:
    other = f"{topic}-other"
    create_topic(servers, other, partitions=2)
    with Consumer(servers, [topic], group_id=topic, **settings) as member:
        poll_until(member, lambda: len(member.assignment()) == PARTITIONS)
        member.subscribe([topic, other])
        poll_until(member, lambda: len(member.assignment()) == PARTITIONS + 2)
        member.subscribe([other])
        poll_until(member, lambda: member.assignment() == [(other, 0), (other, 1)])
        member.unsubscribe()
        assert member.assignment() == []


def test_a_member_whose_program_is_silent_leaves_and_comes_back_with_its_partitions_lost(
    servers: str, topic: str, settings: Settings
) -> None:
    told: list[str] = []
    with Consumer(servers, group_id=topic, max_poll_interval_ms=1000, **settings) as member:
        member.subscribe([topic], on_assigned=lambda _: told.append("assigned"), on_lost=lambda _: told.append("lost"))
        poll_until(member, lambda: member.assignment())
        wait_for("the member to have left", lambda: is_out(member))
        poll_until(member, lambda: told == ["assigned", "lost", "assigned"])


@OURS
def test_offsets_committed_by_one_member_are_where_the_next_begins(
    servers: str, topic: str, join: Callable[..., Consumer], settings: Settings
) -> None:
    produce(servers, topic, 0, 60)
    first = join(**settings)
    assert len(read(first, 60)) == 60
    first.commit_sync()
    first.close()
    produce(servers, topic, 60, 6)
    second = join(**settings)
    assert sorted(int(record.value) for record in read(second, 6)) == list(range(60, 66))


@OURS
def test_automatic_commits_cover_what_was_handed_out_and_no_more(
    servers: str, topic: str, join: Callable[..., Consumer], settings: Settings
) -> None:
    produce(servers, topic, 0, 60)
    with Consumer(
        servers, [topic], group_id=topic, auto_offset_reset="earliest", enable_auto_commit=True, **settings
    ) as first:
        seen = [record.value for _, record in zip(range(40), first, strict=False)]
    rest = [record.value for record in read(join(**settings), 20)]
    assert sorted(int(value) for value in seen + rest) == list(range(60))


def test_who_left_cannot_commit(join: Callable[..., Consumer], topic: str, settings: Settings) -> None:
    member = join(max_poll_interval_ms=1000, **settings)
    poll_until(member, lambda: member.assignment())
    wait_for("the member to have left", lambda: is_out(member))
    with pytest.raises(CommitFailed):
        member.commit_sync({(topic, 0): 0})


def test_the_protocol_of_kip_848_is_chosen_where_the_cluster_has_it(join: Callable[..., Consumer]) -> None:
    member = join()
    poll_until(member, lambda: member.assignment())
    assert not member.group_metadata().member_id.startswith("fencepost"), "the coordinator names classic members"


def test_a_group_that_is_classic_is_joined_by_the_classic_protocol(join: Callable[..., Consumer]) -> None:
    """Apache Kafka turns the group into a KIP-848 one instead: either way both share the partitions."""
    first = join(**PROTOCOLS["range"])
    poll_until(first, lambda: first.assignment())
    second = join(session_timeout_ms=1500, heartbeat_interval_ms=200)
    poll_until([first, second], lambda: len(first.assignment()) == len(second.assignment()) == PARTITIONS // 2)


@pytest.mark.parametrize("protocol", ["range", "cooperative", "kip-848"])
def test_two_copiers_rebalance_and_one_is_killed_in_the_middle_of_a_transaction(
    servers: str, name: str, tmp_path: Path, protocol: str
) -> None:
    source, target = f"{name}-source", f"{name}-target"
    create_topic(servers, source, partitions=copier_life.PARTITIONS)
    create_topic(servers, target, partitions=copier_life.PARTITIONS)

    def write(values: list[bytes]) -> None:
        for partition in range(copier_life.PARTITIONS):
            consumer_reading.produce(servers, source, values[partition :: copier_life.PARTITIONS], partition=partition)

    copier_life.two_copiers_rebalance_and_one_is_killed(
        module="tests.behaviour_client.consumer_copier",
        folder=tmp_path,
        arguments={
            "bootstrap_servers": servers,
            "source": source,
            "target": target,
            "group": name,
            "settings": PROTOCOLS[protocol],
        },
        produce=write,
        read_values=lambda level: [
            record.value
            for record in consumer_reading.read_all(servers, target, while_open=True, isolation_level=level)
        ],
    )


def replay(told: list[tuple[str, list[TopicPartition]]]) -> list[TopicPartition]:
    owned: set[TopicPartition] = set()
    for kind, partitions in told:
        if kind == "assigned":
            assert not owned & set(partitions)
            owned |= set(partitions)
        else:
            assert owned >= set(partitions)
            owned -= set(partitions)
    return sorted(owned)


def poll_until(members: Consumer | list[Consumer], condition: Callable[[], Any]) -> None:
    listed = members if isinstance(members, list) else [members]

    def probe() -> bool:
        for member in listed:
            member.poll(0.02)
        return bool(condition())

    wait_for("what the group should come to", probe, pause_s=0)
