"""A member of a group in a process of its own: reads, commits, and says so (see group_life.py)."""

import asyncio

from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import KafkaError

from tests.interop.aiokafka.clients import consumer
from tests.interop.member_process import Reporter

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}


async def main() -> None:
    reporter = Reporter()
    given = reporter.arguments
    settings = {
        "group_id": given["group"],
        "group_instance_id": given.get("instance_id"),
        "partition_assignment_strategy": [ASSIGNORS[given["assignor"]]],
        "session_timeout_ms": given["session_timeout_ms"],
        "heartbeat_interval_ms": 200,
    }
    async with consumer(given["bootstrap_servers"], given["topic"], **settings) as client:
        assigned: list[int] = []
        while not reporter.stopping:
            polled = await client.getmany(timeout_ms=50, max_records=5)
            now = sorted(part.partition for part in client.assignment())
            if now != assigned:
                reporter.say("assigned", now)
                assigned = now
            for part, records in polled.items():
                for record in records:
                    reporter.say("got", [record.partition, record.offset])
                end = records[-1].offset + 1
                try:
                    await client.commit({part: end})
                except KafkaError as problem:
                    reporter.say("not committed", repr(problem))
                else:
                    reporter.say("committed", [part.partition, end])


asyncio.run(main())
