"""The administrator's calls of aiokafka. It hands out the responses as they came."""

from typing import Any

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import InvalidPartitionsError, OffsetOutOfRangeError, TopicAlreadyExistsError

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.aiokafka.clients import admin, consumer, create_topic, in_event_loop, producer, read, read_all


@in_event_loop
async def test_topics_are_created_described_grown_and_deleted(broker: EmbeddedBroker, name: str) -> None:
    async with admin(broker.bootstrap_servers) as manager:
        await manager.create_topics([NewTopic(name, 2, 1)])
        (described,) = await manager.describe_topics([name])
        assert len(described["partitions"]) == 2
        again = await manager.create_topics([NewTopic(name, 2, 1)])
        assert again.topic_errors[0][1] == TopicAlreadyExistsError.errno
        await manager.create_partitions({name: NewPartitions(5)})
        (described,) = await manager.describe_topics([name])
        assert sorted(partition["partition"] for partition in described["partitions"]) == [0, 1, 2, 3, 4]
        with pytest.raises(InvalidPartitionsError):
            await manager.create_partitions({name: NewPartitions(1)})
        await manager.delete_topics([name])
        assert name not in await manager.list_topics()


@in_event_loop
async def test_settings_of_a_topic_are_described_and_altered(broker: EmbeddedBroker, name: str) -> None:
    async with admin(broker.bootstrap_servers) as manager:
        await manager.create_topics([NewTopic(name, 1, 1, topic_configs={"retention.ms": "1000"})])

        async def described() -> dict[str, str]:
            (response,) = await manager.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name)])
            return {entry[0]: entry[1] for entry in response.resources[0][4]}

        assert (await described())["retention.ms"] == "1000"
        change: dict[str, Any] = {"cleanup.policy": "compact"}
        await manager.alter_configs([ConfigResource(ConfigResourceType.TOPIC, name, change)])
        settings = await described()
        assert (settings["cleanup.policy"], settings["retention.ms"]) == ("compact", "-1")


@in_event_loop
async def test_the_cluster_is_described(broker: EmbeddedBroker) -> None:
    async with admin(broker.bootstrap_servers) as manager:
        cluster = await manager.describe_cluster()
        assert cluster["controller_id"] == 1
        assert [(node["node_id"], node["host"], node["port"]) for node in cluster["brokers"]] == [
            (1, broker.host, broker.port)
        ]


@in_event_loop
async def test_records_are_deleted(broker: EmbeddedBroker, name: str) -> None:
    part = TopicPartition(name, 0)
    await create_topic(broker.bootstrap_servers, name)
    async with producer(broker.bootstrap_servers) as client, admin(broker.bootstrap_servers) as manager:
        for number in range(10):
            await client.send_and_wait(name, b"%d" % number)
        assert await manager.delete_records({part: RecordsToDelete(4)}) == {part: 4}
        with pytest.raises(OffsetOutOfRangeError):
            await manager.delete_records({part: RecordsToDelete(11)})
    records = await read_all(broker.bootstrap_servers, name)
    assert [record.offset for record in records] == list(range(4, 10))


@in_event_loop
async def test_groups_are_listed_described_and_their_offsets_read(broker: EmbeddedBroker, name: str) -> None:
    part = TopicPartition(name, 0)
    await create_topic(broker.bootstrap_servers, name)
    async with (
        producer(broker.bootstrap_servers) as client,
        consumer(broker.bootstrap_servers, name, group_id=name, client_id="me") as member,
        admin(broker.bootstrap_servers) as manager,
    ):
        await client.send_and_wait(name, b"v")
        await read(member, 1)
        await member.commit({part: (1, "note")})
        assert (name, "consumer") in [group[:2] for group in await manager.list_consumer_groups()]
        assert await manager.find_coordinator(name) == 1
        (response,) = await manager.describe_consumer_groups([name])
        (described,) = response.groups
        assert described[:3] == (0, name, "Stable")
        assert await manager.list_consumer_group_offsets(name) == {part: (1, "note")}
