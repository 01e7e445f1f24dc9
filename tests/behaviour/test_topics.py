"""Metadata, auto-creation, and topics made, changed and deleted by request."""

from uuid import UUID

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from fencepost.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from fencepost.wire.messages.delete_topics import DeleteTopicsRequest
from fencepost.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.behaviour.peer import Peer, until


def create(
    peer: Peer, topic: str, *, partitions: int = 1, replicas: int = 1, validate_only: bool = False, **configs: str
) -> int:
    wanted = CreatableTopic(
        name=topic,
        num_partitions=partitions,
        replication_factor=replicas,
        configs=[CreatableTopicConfig(name.replace("_", "."), value) for name, value in configs.items()],
    )
    request = CreateTopicsRequest(topics=[wanted], timeout_ms=10_000, validate_only=validate_only)
    return int(peer.put(request, 7).topics[0].error_code)


def test_an_unknown_topic_is_made_when_it_is_asked_for_and_only_if_the_client_wants_it(peer: Peer) -> None:
    topic = peer.name("automatic")
    assert peer.describe_topic(topic).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    request = MetadataRequest([MetadataRequestTopic(name=topic)], allow_auto_topic_creation=True)
    made = until(lambda: peer.put(request, 12).topics[0], lambda found: found.error_code == 0)
    assert len(made.partitions) == 1
    assert peer.describe_topic(topic).error_code == 0


@pytest.mark.parametrize("name", [".", "..", "a/b", "ü", "x" * 250])
def test_an_invalid_name_is_not_made(peer: Peer, name: str) -> None:
    request = MetadataRequest([MetadataRequestTopic(name=name)], allow_auto_topic_creation=True)
    assert peer.put(request, 9).topics[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert create(peer, name) == ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.parametrize("name", [None, ""])
def test_a_topic_is_found_by_its_id(peer: Peer, name: str | None) -> None:
    """Java's admin client sends an empty name with the id."""
    topic = peer.create_topic(partitions=2)
    topic_id = peer.describe_topic(topic).topic_id
    found = peer.put(MetadataRequest([MetadataRequestTopic(topic_id=topic_id, name=name)]), 12).topics[0]
    assert (found.error_code, found.name, found.topic_id, len(found.partitions)) == (0, topic, topic_id, 2)
    absent = peer.put(MetadataRequest([MetadataRequestTopic(topic_id=UUID(int=77), name=name)]), 12).topics[0]
    assert (absent.error_code, absent.name, absent.topic_id) == (ErrorCode.UNKNOWN_TOPIC_ID, None, UUID(int=77))


def test_the_answer_names_brokers_controller_and_leaders(peer: Peer) -> None:
    topic = peer.create_topic()
    answer = peer.put(MetadataRequest([MetadataRequestTopic(name=topic)]), 8)
    [broker] = answer.brokers
    [partition] = answer.topics[0].partitions
    assert answer.controller_id == broker.node_id == partition.leader_id
    assert (partition.replica_nodes, partition.isr_nodes) == ([broker.node_id], [broker.node_id])
    assert f"{broker.host}:{broker.port}" == peer.bootstrap_servers


@pytest.mark.parametrize(
    ("said", "error_code"),
    [
        ({"partitions": 0}, ErrorCode.INVALID_PARTITIONS),
        ({"replicas": 0}, ErrorCode.INVALID_REPLICATION_FACTOR),
        ({"retention_ms": "soon"}, ErrorCode.INVALID_CONFIG),
        ({"no_such_setting": "1"}, ErrorCode.INVALID_CONFIG),
        ({"partitions": -1, "replicas": -1}, ErrorCode.NONE),
    ],
    ids=["no partitions", "no replicas", "bad value", "bad name", "defaults"],
)
def test_creation_checks_what_it_is_told(peer: Peer, said: dict[str, object], error_code: int) -> None:
    assert create(peer, peer.name("topic"), **said) == error_code  # type: ignore[arg-type]


def test_one_node_keeps_one_copy(peer: Peer) -> None:
    error_code = create(peer, peer.name("topic"), replicas=3)
    assert error_code == peer.differs("one-copy", kafka=ErrorCode.INVALID_REPLICATION_FACTOR, fencepost=ErrorCode.NONE)


def test_a_topic_is_made_once(peer: Peer) -> None:
    assert create(peer, peer.create_topic()) == ErrorCode.TOPIC_ALREADY_EXISTS


def test_validation_makes_nothing(peer: Peer) -> None:
    topic = peer.name("topic")
    assert create(peer, topic, validate_only=True) == 0
    assert peer.describe_topic(topic).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_partitions_are_added_and_never_taken_away(peer: Peer) -> None:
    topic = peer.create_topic(partitions=2)

    def grow(count: int, name: str = topic) -> int:
        wanted = CreatePartitionsTopic(name=name, count=count, assignments=None)
        return int(peer.put(CreatePartitionsRequest(topics=[wanted], timeout_ms=10_000), 3).results[0].error_code)

    assert grow(1) == ErrorCode.INVALID_PARTITIONS
    assert grow(2) == ErrorCode.INVALID_PARTITIONS
    assert grow(3, peer.name("absent")) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert grow(3) == 0
    until(lambda: peer.describe_topic(topic), lambda found: len(found.partitions) == 3)


def test_a_deleted_topic_is_gone(peer: Peer) -> None:
    topic = peer.create_topic()

    def delete(name: str) -> int:
        return int(peer.put(DeleteTopicsRequest(topic_names=[name], timeout_ms=10_000), 5).responses[0].error_code)

    assert delete(peer.name("absent")) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert delete(topic) == 0
    until(lambda: peer.describe_topic(topic), lambda found: found.error_code == 3)
