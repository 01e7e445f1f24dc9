"""Group id or group metadata: which of the two lets the coordinator refuse a consumer that was replaced?

A member of a group is replaced. A producer, with a transactional id that nobody else has, then commits the offsets that
the old member gave it: once with the group's id alone, once with the metadata of the old member.
"""

from examples.documents.stage import story_arguments
from examples.documents.waiting import wait_for
from examples.questions.asking import create_topic, fresh, open_cluster, print_rows
from fencepost.client import Admin, Consumer, ConsumerGroupMetadata, Producer, TopicPartition
from fencepost.client.exceptions import AbortableError


def join(servers: str, group_id: str, topic: str) -> Consumer:
    consumer = Consumer(servers, topics=[topic], group_id=group_id, group_protocol="classic")

    def is_in() -> bool:
        consumer.poll(0.1)
        return bool(consumer.assignment())

    wait_for("the group gives it the partition", is_in)
    return consumer


def commit_as(servers: str, where: TopicPartition, group: str | ConsumerGroupMetadata) -> str:
    with Producer(servers, transactional_id=fresh("random")) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        try:
            producer.send_offsets_to_transaction({where: 1}, group)
            producer.commit_transaction()
        except AbortableError as problem:
            producer.abort_transaction()
            return f"refused: {type(problem).__name__}"
    return "committed"


def main() -> None:
    arguments = story_arguments(__doc__)
    with open_cluster(arguments.bootstrap_servers) as servers, Admin(servers) as admin:
        where, group_id = TopicPartition(create_topic(admin, "group-metadata"), 0), fresh("group")
        with join(servers, group_id, where.topic) as old:
            replaced = old.group_metadata()
        with join(servers, group_id, where.topic) as new:
            rows = [
                ["metadata of the replaced member", commit_as(servers, where, replaced)],
                ["group id alone", commit_as(servers, where, group_id)],
                ["metadata of the living member", commit_as(servers, where, new.group_metadata())],
            ]
    print_rows(["offsets come with", "and are"], rows)


if __name__ == "__main__":
    main()
