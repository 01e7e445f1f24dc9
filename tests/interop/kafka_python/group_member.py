"""A member of a group in a process of its own: reads, commits, and says so (see group_life.py)."""

from kafka import OffsetAndMetadata
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.errors import KafkaError

from tests.interop.kafka_python.clients import consumer
from tests.interop.member_process import Reporter

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}


def main() -> None:
    reporter = Reporter()
    given = reporter.arguments
    settings = {
        "group_id": given["group"],
        "group_instance_id": given.get("instance_id"),
        "partition_assignment_strategy": [ASSIGNORS[given["assignor"]]],
        "session_timeout_ms": given["session_timeout_ms"],
        "heartbeat_interval_ms": 200,
    }
    with consumer(given["bootstrap_servers"], given["topic"], **settings) as client:
        assigned: list[int] = []
        while not reporter.stopping:
            polled = client.poll(timeout_ms=50, max_records=5)
            now = sorted(part.partition for part in client.assignment())
            if now != assigned:
                reporter.say("assigned", now)
                assigned = now
            for part, records in polled.items():
                for record in records:
                    reporter.say("got", [record.partition, record.offset])
                end = records[-1].offset + 1
                try:
                    client.commit({part: OffsetAndMetadata(end, "", -1)})
                except KafkaError as problem:
                    reporter.say("not committed", repr(problem))
                    # A rebalance also refuses commits of partitions that a member keeps; they are read again.
                    if part in client.assignment():
                        client.seek(part, records[0].offset)
                else:
                    reporter.say("committed", [part.partition, end])


main()
