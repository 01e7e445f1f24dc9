"""Administration, on our broker and on Apache Kafka."""

import pytest

from fencepost.client import Admin, Producer, TopicPartition
from fencepost.client.admin.asking import PASSING
from fencepost.client.admin.topics import NewTopic
from fencepost.client.exceptions import ClientError, UnknownTopicOrPartition
from fencepost.errors import ErrorCode
from tests.behaviour_client.conftest import one_broker, two_brokers
from tests.behaviour_client.fault_proxy import FaultProxy, deny
from tests.interop.support import wait_for

pytestmark = two_brokers


def test_a_topic_is_made_described_grown_and_deleted(admin: Admin, name: str) -> None:
    admin.create_topics([NewTopic(name, 2, 1, {"retention.ms": "1000"})])
    assert sorted(admin.describe_topics([name])[name].partitions) == [0, 1]
    assert name in admin.describe_topics()
    admin.create_partitions({name: 4})
    assert sorted(admin.describe_topics([name])[name].partitions) == [0, 1, 2, 3]
    with pytest.raises(ClientError) as raised:
        admin.create_topic(name, 1, 1)
    assert raised.value.error_code is ErrorCode.TOPIC_ALREADY_EXISTS
    assert name in str(raised.value)
    admin.delete_topics([name])
    wait_for("the topic gone", lambda: name not in admin.describe_topics())
    with pytest.raises(UnknownTopicOrPartition):
        admin.describe_topics([name])


def test_settings_of_a_topic_are_read_set_and_brought_back(admin: Admin, topic: str) -> None:
    before = admin.topic_settings(topic)["retention.ms"]
    admin.alter_topic_settings(topic, {"retention.ms": "12345"})
    wait_for("the setting", lambda: admin.topic_settings(topic)["retention.ms"] == "12345")
    admin.alter_topic_settings(topic, {"retention.ms": None})
    wait_for("the default", lambda: admin.topic_settings(topic)["retention.ms"] == before)


@one_broker
@pytest.mark.parametrize("api", ["Metadata", "ListOffsets"])
def test_a_topic_is_made_when_the_cluster_knows_it(proxy: FaultProxy, name: str, api: str) -> None:
    with Admin(proxy.bootstrap_servers, retry_backoff_ms=1) as admin:
        admin.describe_topics()
        proxy.plan(api, *[deny(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)] * 3)
        admin.create_topic(name, 2, 1)
        assert not proxy.unused


@one_broker
def test_a_topic_is_made_even_if_its_leader_is_not_heard_of(proxy: FaultProxy, name: str) -> None:
    with Admin(proxy.bootstrap_servers, retry_backoff_ms=1, request_timeout_ms=2000) as admin:
        admin.describe_topics()
        planned = [deny(ErrorCode.LEADER_NOT_AVAILABLE)] * 10_000
        proxy.plan("ListOffsets", *planned)
        admin.create_topic(name, 2, 1)
        assert 0 < len(proxy.unused["ListOffsets"]) < len(planned), "it was waited for"
        assert name in admin.describe_topics()


def test_offsets_of_partitions_and_of_a_reader_of_committed_records(
    servers: str, admin: Admin, topic: str, name: str
) -> None:
    where = TopicPartition(topic, 0)
    with Producer(servers, transactional_id=name) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"a", partition=0, timestamp_ms=1_700_000_000_000).result(30)
        assert admin.earliest_offsets([where]) == {where: 0}
        assert admin.latest_offsets([where]) == {where: 1}
        assert admin.latest_offsets([where], read_committed=True) == {where: 0}
        (open_one,) = admin.describe_producers(where)
        assert producer.identity is not None
        assert (open_one.producer_id, open_one.current_txn_start_offset) == (producer.identity.producer_id, 0)
        described = admin.describe_transaction(name)
        assert described is not None
        assert (described.state, described.partitions) == ("Ongoing", [where])
        listed = {row.transactional_id for row in admin.list_transactions(states=["Ongoing"])}
        assert name in listed
        producer.abort_transaction()
    assert admin.describe_transaction(f"{name}-unknown") is None


def test_offsets_of_a_group_are_set_read_and_deleted_with_it(admin: Admin, topic: str, name: str) -> None:
    where = TopicPartition(topic, 1)
    admin.alter_group_offsets(name, {where: 5})
    assert {key: one.offset for key, one in admin.group_offsets(name).items()} == {where: 5}
    assert name in {group.group_id for group in admin.list_groups()}
    description = admin.describe_group(name)
    assert (description.group_id, description.members) == (name, [])
    admin.delete_groups([name])
    assert name not in {group.group_id for group in admin.list_groups()}


@one_broker
@pytest.mark.parametrize("error_code", sorted(PASSING))
def test_what_passes_is_asked_again(proxy: FaultProxy, topic: str, name: str, error_code: ErrorCode) -> None:
    where = TopicPartition(topic, 0)
    with Admin(proxy.bootstrap_servers, retry_backoff_ms=1) as admin:
        for api in ("ListOffsets", "OffsetFetch", "ListTransactions"):
            proxy.plan(api, deny(error_code))
        assert admin.latest_offsets(iter([where])) == {where: 0}
        assert admin.group_offsets(name) == {}
        assert name not in {row.transactional_id for row in admin.list_transactions()}
        assert not proxy.unused


@one_broker
def test_what_does_not_pass_within_the_time_limit_is_raised(proxy: FaultProxy, topic: str) -> None:
    with Admin(proxy.bootstrap_servers, retry_backoff_ms=1, request_timeout_ms=200) as admin:
        proxy.plan("ListOffsets", *[deny(ErrorCode.LEADER_NOT_AVAILABLE)] * 10_000)
        with pytest.raises(ClientError) as raised:
            admin.latest_offsets([TopicPartition(topic, 0)])
        assert raised.value.error_code is ErrorCode.LEADER_NOT_AVAILABLE
