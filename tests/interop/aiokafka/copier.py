"""Moves records from one topic to another, each few in a transaction (see copier_life.py)."""

import asyncio

from aiokafka import AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.abc import ConsumerRebalanceListener
from aiokafka.coordinator.assignors.range import RangePartitionAssignor

from tests.interop.aiokafka.clients import consumer, producer
from tests.interop.copier_life import BATCH, transform
from tests.interop.member_process import Reporter


class Revocations(ConsumerRebalanceListener):
    """Holds a rebalance back until the transaction is over, and counts: aiokafka cannot tell the broker which member
    sends offsets, so the copier itself has to know that what it polled is still its own."""

    def __init__(self) -> None:
        self.in_transaction = asyncio.Lock()
        self.count = 0

    async def on_partitions_revoked(self, revoked: list[TopicPartition]) -> None:
        async with self.in_transaction:
            self.count += 1

    async def on_partitions_assigned(self, assigned: list[TopicPartition]) -> None:
        pass


async def main() -> None:
    reporter = Reporter()
    given = reporter.arguments
    settings = {
        "group_id": given["group"],
        "isolation_level": "read_committed",
        "partition_assignment_strategy": [RangePartitionAssignor],
        "session_timeout_ms": 1500,
        "heartbeat_interval_ms": 200,
    }
    revocations = Revocations()
    async with (
        producer(given["bootstrap_servers"], transactional_id=given["transactional_id"]) as writer,
        consumer(given["bootstrap_servers"], **settings) as reader,
    ):
        reader.subscribe([given["source"]], listener=revocations)
        assigned: list[int] = []
        while not reporter.stopping:
            polled = await reader.getmany(timeout_ms=50, max_records=BATCH)
            count = revocations.count
            now = sorted(part.partition for part in reader.assignment())
            if now != assigned:
                reporter.say("assigned", now)
                assigned = now
            async with revocations.in_transaction:
                if polled and count == revocations.count:
                    await copy(reporter, writer, polled)


async def copy(
    reporter: Reporter, writer: AIOKafkaProducer, polled: dict[TopicPartition, list[ConsumerRecord]]
) -> None:
    given = reporter.arguments
    records = [record for batch in polled.values() for record in batch]
    async with writer.transaction():
        for record in records:
            await writer.send(given["target"], transform(record.value), partition=record.partition)
        if 0 < given.get("hold_after", 0) <= len(records):
            await writer.flush()
            reporter.say("holding")
            await asyncio.Event().wait()
        ends = {part: batch[-1].offset + 1 for part, batch in polled.items()}
        await writer.send_offsets_to_transaction(ends, given["group"])
    reporter.say("copied", len(records))


asyncio.run(main())
