"""Moves records from one topic to another, each few in a transaction (see copier_life.py)."""

import signal

from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import KafkaError, ProducerFencedError

from tests.interop.copier_life import BATCH, transform
from tests.interop.kafka_python.clients import consumer, transactional
from tests.interop.member_process import Reporter


def main() -> None:
    reporter = Reporter()
    given = reporter.arguments
    settings = {
        "group_id": given["group"],
        "isolation_level": "read_committed",
        "partition_assignment_strategy": [RangePartitionAssignor],
        "session_timeout_ms": 1500,
        "heartbeat_interval_ms": 200,
    }
    with (
        transactional(given["bootstrap_servers"], given["transactional_id"]) as writer,
        consumer(given["bootstrap_servers"], given["source"], **settings) as reader,
    ):
        assigned: list[int] = []
        while not reporter.stopping:
            polled = reader.poll(timeout_ms=50, max_records=BATCH)
            now = sorted(part.partition for part in reader.assignment())
            if now != assigned:
                reporter.say("assigned", now)
                assigned = now
            if polled:
                copy(reporter, reader, writer, polled)


def copy(
    reporter: Reporter,
    reader: KafkaConsumer,
    writer: KafkaProducer,
    polled: dict[TopicPartition, list[ConsumerRecord]],
) -> None:
    given = reporter.arguments
    records = [record for batch in polled.values() for record in batch]
    ends = {part: OffsetAndMetadata(batch[-1].offset + 1, "", -1) for part, batch in polled.items()}
    writer.begin_transaction()
    try:
        for record in records:
            writer.send(given["target"], transform(record.value), partition=record.partition)
        if 0 < given.get("hold_after", 0) <= len(records):
            writer.flush(timeout=30)
            reporter.say("holding")
            signal.pause()
        writer.send_offsets_to_transaction(ends, reader.group_metadata())
        writer.commit_transaction()
    except ProducerFencedError:
        raise
    except KafkaError as problem:
        reporter.say("failed", repr(problem))
        writer.abort_transaction()
        rewind(reader)
    else:
        reporter.say("copied", len(records))


def rewind(reader: KafkaConsumer) -> None:
    """Back to what is committed, or to the start."""
    for part in reader.assignment():
        reader.seek(part, reader.committed(part) or 0)


main()
