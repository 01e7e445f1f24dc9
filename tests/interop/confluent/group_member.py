"""A member of a group in a process of its own: reads, commits every record, and says so (see group_life.py)."""

from contextlib import suppress

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from tests.interop.confluent.clients import consumer
from tests.interop.member_process import Reporter


def main() -> None:
    reporter = Reporter()
    given = reporter.arguments
    with consumer(given["bootstrap_servers"], group_id=given["group"], **given["settings"], **static(given)) as client:
        client.subscribe([given["topic"]])
        assigned: list[int] = []
        while not reporter.stopping:
            message = client.poll(0.05)
            now = sorted(part.partition for part in client.assignment())
            if now != assigned:
                reporter.say("assigned", now)
                assigned = now
            if message is None or message.error() is not None:
                continue
            reporter.say("got", [message.partition(), message.offset()])
            following = TopicPartition(message.topic(), message.partition(), message.offset() + 1)
            try:
                client.commit(offsets=[following], asynchronous=False)
            except KafkaException as problem:
                reporter.say("not committed", str(problem))
                read_again(client, message)
            else:
                reporter.say("committed", [following.partition, following.offset])


def read_again(client: Consumer, message: Message) -> None:
    """A rebalance also refuses commits of partitions that a member keeps, and nobody else gets those records."""
    with suppress(KafkaException):  # the partition is another member's by now, who begins at the committed offset
        client.seek(TopicPartition(message.topic(), message.partition(), message.offset()))


def static(given: dict[str, str]) -> dict[str, str]:
    return {"group_instance_id": given["instance_id"]} if "instance_id" in given else {}


main()
