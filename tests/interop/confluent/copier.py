"""Moves records from one topic to another, each few in a transaction (see copier_life.py)."""

import signal
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from tests.interop.confluent.clients import consumer, producer
from tests.interop.copier_life import BATCH, transform
from tests.interop.member_process import Reporter


def main() -> None:
    reporter = Reporter()
    given = reporter.arguments
    writer = producer(
        given["bootstrap_servers"], transactional_id=given["transactional_id"], transaction_timeout_ms=20_000
    )
    writer.init_transactions(30)
    settings = {"isolation_level": "read_committed", **given["settings"]}
    with consumer(given["bootstrap_servers"], group_id=given["group"], **settings) as reader:
        reader.subscribe([given["source"]])
        assigned: list[int] = []
        while not reporter.stopping:
            messages = next_messages(reader)
            now = sorted(part.partition for part in reader.assignment())
            if now != assigned:
                reporter.say("assigned", now)
                assigned = now
            if messages:
                copy(reporter, reader, writer, messages)


def next_messages(reader: Consumer) -> list[Message]:
    """Whatever is there, up to a transaction's worth; polled one by one, so that a rebalance shows between two."""
    messages: list[Message] = []
    while len(messages) < BATCH and (message := reader.poll(0.05)) is not None:
        if message.error() is None:
            messages.append(message)
    return messages


def copy(reporter: Reporter, reader: Consumer, writer: Producer, messages: list[Message]) -> None:
    given = reporter.arguments
    writer.begin_transaction()
    try:
        for message in messages:
            writer.produce(given["target"], transform(message.value()), partition=message.partition())
        if 0 < given.get("hold_after", 0) <= len(messages):
            assert writer.flush(30) == 0
            reporter.say("holding")
            signal.pause()
        writer.send_offsets_to_transaction(following(messages), reader.consumer_group_metadata(), 30)
        writer.commit_transaction(30)
    except KafkaException as problem:
        reporter.say("failed", str(problem))
        if not problem.args[0].txn_requires_abort():
            raise
        writer.abort_transaction(30)
        rewind(reader)
    else:
        reporter.say("copied", len(messages))


def following(messages: list[Message]) -> list[TopicPartition]:
    ends: dict[int, Any] = {message.partition(): message for message in messages}
    return [TopicPartition(last.topic(), last.partition(), last.offset() + 1) for last in ends.values()]


def rewind(reader: Consumer) -> None:
    """Back to what is committed, or to the start."""
    for part in reader.committed(reader.assignment(), 30):
        reader.seek(TopicPartition(part.topic, part.partition, max(part.offset, 0)))


main()
