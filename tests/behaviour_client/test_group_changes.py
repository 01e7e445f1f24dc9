"""Partitions that change hands in a classic group while something goes wrong: never two owners, and never none."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fencepost.client import Consumer, TopicPartition
from fencepost.client.admin.admin import Admin
from fencepost.errors import ErrorCode
from tests.behaviour_client.conftest import one_broker, two_brokers
from tests.behaviour_client.consumer_reading import is_out
from tests.behaviour_client.fault_proxy import CUT_AFTER, CUT_BEFORE, Fault, FaultProxy, refuse
from tests.interop.support import wait_for

EAGER: dict[str, Any] = {
    "group_protocol": "classic",
    "partition_assignment_strategy": "range",
    "session_timeout_ms": 30_000,  # no session ends by itself, however busy the machine is
    "heartbeat_interval_ms": 100,
    "retry_backoff_ms": 10,
    "retry_backoff_max_ms": 50,
}
COOPERATIVE = EAGER | {"partition_assignment_strategy": "cooperative-sticky"}
LOSSES = {
    "cut before": CUT_BEFORE,
    "cut after": CUT_AFTER,
    "moved": refuse(ErrorCode.NOT_COORDINATOR),
}
BEATS_ENOUGH = 10
"""A member that would join again without having polled has done so after so many heartbeats."""

Join = Callable[..., Consumer]

pytestmark = two_brokers


@pytest.fixture
def join(servers: str, name: str) -> Iterator[Join]:
    """Members inside this process, closed at the end."""
    members: list[Consumer] = []

    def build(through: FaultProxy | None = None, **settings: Any) -> Consumer:
        address = servers if through is None else through.bootstrap_servers
        members.append(Consumer(address, [name], group_id=name, **settings))
        return members[-1]

    yield build
    for member in members:
        member.close()


@pytest.mark.parametrize("loss", LOSSES)
def test_a_partition_that_is_to_be_given_up_is_handed_on_though_a_heartbeat_was_lost(
    admin: Admin, name: str, proxy: FaultProxy, join: Join, loss: str
) -> None:
    admin.create_topic(name, 2, 1)
    first = join(through=proxy, **COOPERATIVE)
    share([first], [2])
    with_change = proxy.seen.count("SyncGroup") + 1
    second = join(**COOPERATIVE)
    wait_for("a change", lambda: second.poll(0.02) or proxy.seen.count("SyncGroup") == with_change, pause_s=0)
    lose_a_heartbeat(proxy, LOSSES[loss])
    share([first, second], [1, 1])


@pytest.mark.parametrize("loss", LOSSES)
def test_a_partition_that_was_offered_before_a_heartbeat_was_lost_does_not_get_two_owners(
    admin: Admin, name: str, proxy: FaultProxy, join: Join, loss: str
) -> None:
    admin.create_topic(name, 2, 1)
    first, second = join(through=proxy, **COOPERATIVE), join(**COOPERATIVE)
    share([first, second], [1, 1])
    with_change = proxy.seen.count("SyncGroup") + 1
    second.close()
    wait_for("a change", lambda: proxy.seen.count("SyncGroup") == with_change)
    lose_a_heartbeat(proxy, LOSSES[loss])
    third = join(**COOPERATIVE)
    let_join_while_the_other_is_silent(third, proxy)
    share([first, third], [1, 1])


@pytest.mark.parametrize("loss", LOSSES)
def test_the_first_partition_of_an_eager_member_that_loses_a_heartbeat_does_not_get_two_owners(
    admin: Admin, name: str, proxy: FaultProxy, join: Join, loss: str
) -> None:
    admin.create_topic(name, 1, 1)
    first = join(through=proxy, client_id="later in order", **EAGER)
    first.poll(0)
    wait_for("a change", lambda: "SyncGroup" in proxy.seen)
    lose_a_heartbeat(proxy, LOSSES[loss])
    second = join(client_id="earlier in order", **EAGER)
    let_join_while_the_other_is_silent(second, proxy)
    share([first, second], [0, 1])


@one_broker
def test_what_was_offered_is_withdrawn_when_the_session_ends(
    admin: Admin, name: str, proxy: FaultProxy, join: Join
) -> None:
    admin.create_topic(name, 1, 1)
    told: list[TopicPartition] = []
    first = join(through=proxy, client_id="later in order", **EAGER | {"session_timeout_ms": 6000})
    first.subscribe([name], on_assigned=told.extend)
    first.poll(0)
    wait_for("a change", lambda: "SyncGroup" in proxy.seen)
    for api_name in ("Heartbeat", "FindCoordinator"):
        proxy.plan(api_name, *[CUT_BEFORE] * 10_000)
    second = join(client_id="earlier in order", **EAGER)
    share([second], [1])
    wait_for("the member to be out", lambda: is_out(first))
    first.poll(0.2)
    assert told == []
    proxy.forget_plans()
    second.close()
    share([first], [1])


def test_a_static_leader_that_came_back_notices_new_partitions(admin: Admin, name: str, join: Join) -> None:
    admin.create_topic(name, 1, 1)
    settings = EAGER | {"group_instance_id": "the leader", "metadata_max_age_ms": 200}
    before = join(**settings)
    share([before], [1])
    before.close()
    after = join(**settings)
    share([after], [1])
    admin.create_partitions({name: 3})
    share([after], [3])


def lose_a_heartbeat(proxy: FaultProxy, loss: Fault) -> None:
    """Returns when the member has been heard again."""
    proxy.plan("Heartbeat", loss)
    wait_for("the loss", lambda: proxy.used)
    beats = proxy.seen.count("Heartbeat")
    wait_for("the next heartbeat", lambda: proxy.seen.count("Heartbeat") > beats)


def let_join_while_the_other_is_silent(member: Consumer, proxy: FaultProxy) -> None:
    enough = proxy.seen.count("Heartbeat") + BEATS_ENOUGH

    def probe() -> bool:
        member.poll(0.02)
        return bool(member.assignment()) or proxy.seen.count("Heartbeat") >= enough

    wait_for("the member to join, or to be waited for", probe, pause_s=0)


def share(members: list[Consumer], counts: list[int]) -> None:
    """Poll until each has so many partitions; none may have two owners at any time."""

    def probe() -> bool:
        for member in members:
            member.poll(0.02)
        owned = [where for member in members for where in member.assignment()]
        assert len(owned) == len(set(owned))
        return [len(member.assignment()) for member in members] == counts

    wait_for(f"{counts} partitions", probe, pause_s=0, found=lambda: str([each.assignment() for each in members]))
