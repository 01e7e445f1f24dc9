"""Where are the markers: also in `__consumer_offsets`? What does a reader get of them, and what of an aborted record?

One transaction writes a record and offsets and commits, a second one does the same and aborts. Then every batch of both
partitions is looked at.
"""

from examples.documents.stage import story_arguments
from examples.documents.waiting import wait_for
from examples.questions.asking import create_topic, ends, fresh, open_cluster, partitions_of, print_rows, read_all
from fencepost.client import Admin, Producer, TopicPartition
from fencepost.client.admin.inspecting import InspectedBatch, inspect_batches
from fencepost.client.time_limits import Deadline
from fencepost.java_hash import partition_for
from fencepost.types import OffsetRange

OFFSETS_TOPIC = "__consumer_offsets"
TO_THE_END = 2**62


def told(batch: InspectedBatch) -> str:
    if batch.marker is not None:
        return "COMMIT marker" if batch.marker.is_commit else "ABORT marker"
    return f"{batch.outcome.value} record"


def log_of(admin: Admin, where: TopicPartition, *, producer_id: int) -> str:
    wait_for(f"markers on {where}", lambda: len(set(ends(admin, where))) == 1)
    batches = inspect_batches(admin.cluster, where, OffsetRange(0, TO_THE_END), deadline=Deadline(30))
    return ", ".join(told(batch) for batch in batches if batch.header.producer_id == producer_id)


def read(servers: str, where: TopicPartition, isolation_level: str) -> str:
    return ", ".join(record.value.decode() for record in read_all(servers, [where], isolation_level=isolation_level))


def main() -> None:
    arguments = story_arguments(__doc__)
    with open_cluster(arguments.bootstrap_servers) as servers, Admin(servers) as admin:
        where, group_id = TopicPartition(create_topic(admin, "markers"), 0), fresh("group")
        with Producer(servers, transactional_id=fresh("markers")) as producer:
            producer.init_transactions()
            for value, end in ((b"kept", producer.commit_transaction), (b"dropped", producer.abort_transaction)):
                producer.begin_transaction()
                producer.send(where.topic, value).result()
                producer.send_offsets_to_transaction({where: len(value)}, group_id)
                end()
            identity = producer.identity
        count = len(partitions_of(admin, OFFSETS_TOPIC))
        offsets = TopicPartition(OFFSETS_TOPIC, partition_for(group_id, count))
        producer_id = identity.producer_id if identity else -1
        print_rows(
            ["where", "what is there"],
            [
                ["the topic", log_of(admin, where, producer_id=producer_id)],
                [OFFSETS_TOPIC, log_of(admin, offsets, producer_id=producer_id)],
                ["offset of the group", admin.group_offsets(group_id)[where].offset],
                ["read_committed gets", read(servers, where, "read_committed")],
                ["read_uncommitted gets", read(servers, where, "read_uncommitted")],
            ],
        )


if __name__ == "__main__":
    main()
