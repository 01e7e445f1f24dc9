"""A member of a group in a process of its own: reads, commits every record, and says so (see interop/group_life.py)."""

from fencepost.client import Consumer, TopicPartition
from fencepost.client.exceptions import CommitFailed, RebalanceInProgress
from tests.interop.member_process import Reporter


def main() -> None:
    reporter = Reporter()
    given = reporter.arguments
    settings = {**given["settings"], "group_instance_id": given.get("instance_id")}
    with Consumer(
        given["bootstrap_servers"], [given["topic"]], group_id=given["group"], auto_offset_reset="earliest", **settings
    ) as consumer:
        assigned: list[int] = []
        owed: dict[int, int] = {}
        while not reporter.stopping:
            records = consumer.poll(0.05, max_records=1)
            now = [where.partition for where in consumer.assignment()]
            if now != assigned:
                reporter.say("assigned", now)
                assigned = now
            for record in records:
                reporter.say("got", [record.partition, record.offset])
                owed[record.partition] = record.offset + 1
            for partition in sorted(owed):
                commit(reporter, consumer, TopicPartition(given["topic"], partition), owed)


def commit(reporter: Reporter, consumer: Consumer, where: TopicPartition, owed: dict[int, int]) -> None:
    """What cannot be committed now is committed after the next poll, if this member still has its partition."""
    offset = owed.pop(where.partition)
    if where not in consumer.assignment():
        return
    try:
        consumer.commit_sync({where: offset})
    except RebalanceInProgress as problem:
        reporter.say("not committed yet", str(problem))
        owed[where.partition] = offset
    except CommitFailed as problem:
        reporter.say("not committed", str(problem))
    else:
        reporter.say("committed", [where.partition, offset])


main()
