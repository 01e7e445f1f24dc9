"""A member of a group in a process of its own: reads, commits every record, and says so (see interop/group_life.py)."""

from fencepost.client import Consumer
from fencepost.client.exceptions import GroupFenced
from tests.interop.member_process import Reporter


def main() -> None:
    reporter = Reporter()
    given = reporter.arguments
    settings = {**given["settings"], "group_instance_id": given.get("instance_id")}
    with Consumer(
        given["bootstrap_servers"], [given["topic"]], group_id=given["group"], auto_offset_reset="earliest", **settings
    ) as consumer:
        assigned: list[int] = []
        while not reporter.stopping:
            records = consumer.poll(0.05, max_records=1)
            now = [where.partition for where in consumer.assignment()]
            if now != assigned:
                reporter.say("assigned", now)
                assigned = now
            for record in records:
                reporter.say("got", [record.partition, record.offset])
                try:
                    consumer.commit_sync({record.topic_partition: record.offset + 1})
                except GroupFenced as problem:
                    reporter.say("not committed", str(problem))
                else:
                    reporter.say("committed", [record.partition, record.offset + 1])


main()
