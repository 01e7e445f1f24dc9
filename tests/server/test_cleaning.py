"""A running broker cleans its data folder by itself while it serves."""

from pathlib import Path
from time import monotonic

from fencepost.errors import ErrorCode
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.server.embedded import EmbeddedBroker
from fencepost.wire.api import API_TABLE
from fencepost.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from fencepost.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.server.raw_client import RawClient

KEY_OF = {api.name: api.key for api in API_TABLE.values()}
SETTINGS = {"log.segment.bytes": "16384", "log.retention.check.interval.ms": "20"}
NEEDLE = b"needle" * 100
DEADLINE_S = 30.0


def occurrences(folder: Path) -> int:
    """How often the needle is stored. Files may go while we look."""
    count = 0
    for path in folder.glob("*.journal"):
        try:
            count += path.read_bytes().count(NEEDLE)
        except FileNotFoundError:
            continue
    return count


def produce(client: RawClient, topic: str, key: bytes) -> None:
    batch = build_batch([Record(timestamp_ms=1_700_000_000_000, key=key, value=NEEDLE)])
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(0, batch)])
    answer = client.ask(KEY_OF["Produce"], 9, ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[data]))
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE


def test_a_deleted_topic_and_shadowed_records_vanish_from_the_folder_of_a_broker_that_serves(tmp_path: Path) -> None:
    with EmbeddedBroker(data=tmp_path, settings=SETTINGS) as broker, RawClient(broker.bootstrap_servers) as client:
        compacted = [CreatableTopicConfig("cleanup.policy", "compact")]
        kept = [CreatableTopicConfig("retention.ms", "-1")]  # the records' timestamps are older than any retention
        topics = [
            CreatableTopic("dead", num_partitions=1, replication_factor=1),
            CreatableTopic("table", num_partitions=1, replication_factor=1, configs=compacted),
            CreatableTopic("living", num_partitions=1, replication_factor=1, configs=kept),
        ]
        client.ask(KEY_OF["CreateTopics"], 5, CreateTopicsRequest(topics=topics, timeout_ms=1000))
        for _ in range(30):
            produce(client, "dead", b"key")
            produce(client, "table", b"key")
        client.ask(KEY_OF["DeleteTopics"], 6, DeleteTopicsRequest(topics=[DeleteTopicState(name="dead")]))
        deadline = monotonic() + DEADLINE_S
        living = 0
        while occurrences(tmp_path) > living + 10 and monotonic() < deadline:
            produce(client, "living", b"key")
            living += 1
        assert living <= occurrences(tmp_path) <= living + 10, f"{living} records should live"
    with EmbeddedBroker(data=tmp_path, settings=SETTINGS) as broker, RawClient(broker.bootstrap_servers) as client:
        produce(client, "table", b"key")
