"""Every error code of the client's table, in every request that consumers make.

Retriable codes go unnoticed: every record comes once and in order. Others are raised by the call that met them, under
the class that the table names; a few mean something of their own to a member of a group.
"""

from typing import Any

import pytest

from fencepost.client import Consumer, TopicPartition
from fencepost.client.error_table import EXCEPTIONS, Category, meaning_of
from fencepost.client.exceptions import ClientError, CommitFailed, RebalanceInProgress
from fencepost.errors import ErrorCode
from tests.behaviour_client.conftest import one_broker
from tests.behaviour_client.consumer_reading import produce
from tests.behaviour_client.fault_proxy import Fault, FaultProxy, deny, deny_whole, refuse
from tests.interop.support import wait_for

pytestmark = one_broker

QUICK: dict[str, Any] = {
    "retry_backoff_ms": 2,
    "retry_backoff_max_ms": 10,
    "auto_offset_reset": "earliest",
    "fetch_max_wait_ms": 20,
    "max_partition_fetch_bytes": 300,
}
CLASSIC = {"group_protocol": "classic", "heartbeat_interval_ms": 20}
KIP_848 = {"group_protocol": "consumer"}
ALONE: dict[str, Any] = {}
MEMBERSHIP = {
    "ApiVersions": ALONE,
    "Metadata": ALONE,
    "Fetch": ALONE,
    "Fetch as a whole": ALONE,
    "ListOffsets": ALONE,
    "FindCoordinator": KIP_848,
    "OffsetFetch": KIP_848,
    "OffsetCommit": KIP_848,
    "ConsumerGroupHeartbeat": KIP_848,
    "JoinGroup": CLASSIC,
    "SyncGroup": CLASSIC,
    "Heartbeat": CLASSIC,
}
CODES = sorted(EXCEPTIONS, key=lambda code: code.name)
JOIN_AGAIN = {
    "JoinGroup": {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.REBALANCE_IN_PROGRESS},
    "SyncGroup": {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.REBALANCE_IN_PROGRESS},
    "Heartbeat": {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.REBALANCE_IN_PROGRESS},
    "ConsumerGroupHeartbeat": {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH},
}
# A coordinator that says this of a member and keeps it waits for it: test_consumer_faults.py does that.
HALF_TRUE = {("SyncGroup", ErrorCode.UNKNOWN_MEMBER_ID), ("Heartbeat", ErrorCode.UNKNOWN_MEMBER_ID)}
# The member learns its newer epoch by its next heartbeat, and still owns what it commits.
TRIED_AGAIN = {"OffsetCommit": {ErrorCode.STALE_MEMBER_EPOCH}}
# The broker has found its own copy damaged: to ask again would bring the same.
RAISED = {"Fetch": {ErrorCode.CORRUPT_MESSAGE}}


def passes(request: str, code: ErrorCode) -> bool:
    if code in RAISED.get(request, ()):
        return False
    is_special = code in JOIN_AGAIN.get(request, ()) or code in TRIED_AGAIN.get(request, ())
    return is_special or meaning_of(code, request).category is Category.RETRIABLE


# Such an answer has another layout, which the proxy does not know.
UNTESTED = {("ApiVersions", ErrorCode.UNSUPPORTED_VERSION)}
PASSING = {
    request: [code for code in CODES if passes(request, code) and (request, code) not in HALF_TRUE]
    for request in MEMBERSHIP
}
ENDING = [
    (request, code)
    for request in MEMBERSHIP
    for code in CODES
    if not passes(request, code) and (request, code) not in UNTESTED
]


def fault(request: str, code: ErrorCode) -> Fault:
    if request == "Fetch as a whole":
        return deny_whole(code)
    return refuse(code) if request in ("JoinGroup", "SyncGroup", "Heartbeat", "ConsumerGroupHeartbeat") else deny(code)


def plan(proxy: FaultProxy, request: str, *codes: ErrorCode) -> None:
    proxy.plan(request.removesuffix(" as a whole"), *[fault(request, code) for code in codes])


def consumer_of(proxy: FaultProxy, topic: str, membership: dict[str, Any]) -> Consumer:
    if membership:
        return Consumer(proxy.bootstrap_servers, [topic], group_id=topic, **QUICK, **membership)
    consumer = Consumer(proxy.bootstrap_servers, metadata_max_age_ms=5, **QUICK)
    consumer.assign([(topic, 0)])
    return consumer


@pytest.mark.parametrize("request_name", MEMBERSHIP)
def test_codes_that_pass_cost_no_record_and_repeat_none(
    servers: str, proxy: FaultProxy, topic: str, request_name: str
) -> None:
    produce(servers, topic, [b"%d" % number for number in range(100)], batch_num_messages=5)
    plan(proxy, request_name, *PASSING[request_name])
    seen: list[int] = []
    committed = 0
    with consumer_of(proxy, topic, MEMBERSHIP[request_name]) as consumer:

        def turn() -> bool:
            nonlocal committed
            for record in consumer.poll(0.05, max_records=5):
                if request_name in JOIN_AGAIN:
                    # A member that was told to join again goes on from what it has committed.
                    del seen[record.offset :]
                assert record.offset == len(seen) >= committed
                seen.append(int(record.value))
            if MEMBERSHIP[request_name] and consumer.assignment():
                try:
                    consumer.commit_sync(timeout=20)
                    committed = len(seen)
                except CommitFailed:
                    assert request_name in JOIN_AGAIN
            return len(seen) == 100 and not proxy.unused

        wait_for("every record, and every code", turn, pause_s=0)
    assert seen == list(range(100))
    assert len(proxy.used) == len(PASSING[request_name])


@pytest.mark.parametrize(("request_name", "code"), ENDING, ids=[f"{request}-{code.name}" for request, code in ENDING])
def test_a_code_that_does_not_pass_is_raised_under_its_class(
    servers: str, proxy: FaultProxy, topic: str, request_name: str, code: ErrorCode
) -> None:
    produce(servers, topic, [b"first"])
    error = meaning_of(code, request_name).exception_class
    plan(proxy, request_name, code)
    with consumer_of(proxy, topic, MEMBERSHIP[request_name]) as consumer:

        def meet_it() -> bool:
            consumer.poll(0.05)
            if request_name == "OffsetCommit" and consumer.assignment():
                consumer.commit_sync({(topic, 0): 0})
            return False

        with pytest.raises(error) as raised:
            wait_for("the refusal", meet_it, pause_s=0)
        assert raised.value.error_code is code
        assert code.name in str(raised.value)


@pytest.mark.parametrize("code", CODES, ids=[code.name for code in CODES])
def test_leaving_ends_well_whatever_the_coordinator_says(
    servers: str, proxy: FaultProxy, topic: str, code: ErrorCode
) -> None:
    consumer = consumer_of(proxy, topic, CLASSIC)
    wait_for("an assignment", lambda: consumer.poll(0.05) or consumer.assignment())
    plan(proxy, "LeaveGroup", code)
    consumer.close()
    assert ("LeaveGroup", deny(code)) in proxy.used


def test_what_is_raised_while_a_place_to_read_is_looked_for_does_not_end_the_consumer(
    servers: str, proxy: FaultProxy, topic: str
) -> None:
    produce(servers, topic, [b"first"])
    plan(proxy, "ListOffsets", ErrorCode.UNKNOWN_SERVER_ERROR)
    plan(proxy, "Metadata", ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    problems: list[ClientError] = []
    with consumer_of(proxy, topic, ALONE) as consumer:

        def read() -> bool:
            try:
                return bool(consumer.poll(0.05))
            except ClientError as problem:
                problems.append(problem)
                return False

        wait_for("the record", read)
    assert [problem.error_code for problem in problems] == [
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    ]


COMMITS_REFUSED = {
    ErrorCode.REBALANCE_IN_PROGRESS: RebalanceInProgress,
    ErrorCode.ILLEGAL_GENERATION: CommitFailed,
    ErrorCode.UNKNOWN_MEMBER_ID: CommitFailed,
    ErrorCode.FENCED_MEMBER_EPOCH: CommitFailed,
    ErrorCode.GROUP_ID_NOT_FOUND: CommitFailed,
}
COOPERATIVE = CLASSIC | {"partition_assignment_strategy": "cooperative-sticky"}


@pytest.mark.parametrize("code", COMMITS_REFUSED)
def test_a_refused_commit_tells_whether_it_can_be_made_later(
    servers: str, proxy: FaultProxy, topic: str, code: ErrorCode
) -> None:
    """Who keeps a partition gets none of its records again, so a commit that was refused must not be the last word."""
    produce(servers, topic, [b"first"])
    with consumer_of(proxy, topic, COOPERATIVE) as consumer:
        wait_for("the record", lambda: consumer.poll(0.05))
        plan(proxy, "OffsetCommit", code)
        with pytest.raises(CommitFailed) as raised:
            consumer.commit_sync()
        assert (type(raised.value), raised.value.error_code) == (COMMITS_REFUSED[code], code)
        problems: list[ClientError | None] = []
        plan(proxy, "OffsetCommit", code)
        consumer.commit_async(on_commit=lambda _, problem: problems.append(problem))
        wait_for("the answer", lambda: consumer.poll(0.05) or problems)
        assert type(problems[0]) is COMMITS_REFUSED[code]
        consumer.commit_sync()
        committed = consumer.committed()[TopicPartition(topic, 0)]
        assert committed is not None
        assert committed.offset == 1


def test_a_commit_that_another_generation_overtook_can_be_made_in_that_one(
    servers: str, proxy: FaultProxy, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    produce(servers, topic, [b"first"])
    with consumer_of(proxy, topic, COOPERATIVE) as consumer:
        wait_for("the record", lambda: consumer.poll(0.05))
        subscription = consumer._core.subscription
        assert subscription is not None
        generation = consumer.group_metadata().generation_id
        assert subscription.has_moved_on(generation - 1)
        assert not subscription.has_moved_on(generation)
        plan(proxy, "OffsetCommit", ErrorCode.ILLEGAL_GENERATION)
        monkeypatch.setattr(subscription, "has_moved_on", lambda given: given == generation)
        with pytest.raises(RebalanceInProgress, match="after the next `poll`"):
            consumer.commit_sync()
