"""Moves records from one topic to another, each few in a transaction (see interop/copier_life.py)."""

import signal

from fencepost.client import Consumer, ConsumerRecord, Producer
from fencepost.client.exceptions import AbortableError
from tests.interop.copier_life import BATCH, transform
from tests.interop.member_process import Reporter


def main() -> None:
    reporter = Reporter()
    given = reporter.arguments
    with (
        Producer(
            given["bootstrap_servers"], transactional_id=given["transactional_id"], transaction_timeout_ms=20_000
        ) as writer,
        Consumer(
            given["bootstrap_servers"],
            [given["source"]],
            group_id=given["group"],
            auto_offset_reset="earliest",
            max_poll_records=BATCH,
            **given["settings"],
        ) as reader,
    ):
        writer.init_transactions()
        assigned: list[int] = []
        while not reporter.stopping:
            records = reader.poll(0.05)
            now = [where.partition for where in reader.assignment()]
            if now != assigned:
                reporter.say("assigned", now)
                assigned = now
            if records:
                copy(reporter, reader, writer, records)


def copy(reporter: Reporter, reader: Consumer, writer: Producer, records: list[ConsumerRecord]) -> None:
    given = reporter.arguments
    try:
        with writer.transaction() as txn:
            for record in records:
                txn.send(given["target"], transform(record.value), partition=record.partition)
            if 0 < given.get("hold_after", 0) <= len(records):
                writer.flush()
                reporter.say("holding")
                signal.pause()
            txn.send_offsets(reader)
    except AbortableError as problem:
        reporter.say("failed", str(problem))
    else:
        reporter.say("copied", len(records))


main()
