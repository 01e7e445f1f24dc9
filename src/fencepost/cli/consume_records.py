"""Reading as every consumer does: chosen partitions between two places, or what a group assigns."""

import time
from typing import TYPE_CHECKING

from fencepost.cli.connection import Connection
from fencepost.cli.places import Place, PlaceKind, partitions_of, resolve
from fencepost.cli.record_output import ShownRecord
from fencepost.types import TopicPartition

if TYPE_CHECKING:
    from fencepost.cli.consume import Printer, Wanted
    from fencepost.client.consumer import Consumer
    from fencepost.client.consumer_record import ConsumerRecord

POLL_S = 0.2
BATCH = 5000

Ends = dict[TopicPartition, int]


def read(connection: Connection, wanted: "Wanted", printer: "Printer") -> None:
    if wanted.group_id is not None:
        _read_as_member(connection, wanted, printer)
        return
    with connection.admin() as admin:
        partitions = partitions_of(admin, wanted.topic, wanted.partitions)
        starts = resolve(admin, partitions, wanted.start, read_committed=wanted.is_read_committed)
        ends: Ends | None = None
        if not wanted.follows or wanted.end is not None:
            end = wanted.end or Place(PlaceKind.LATEST)
            ends = resolve(admin, partitions, end, read_committed=wanted.is_read_committed)
            partitions = [where for where in partitions if starts[where] < ends[where]]
    if not partitions:
        return
    with connection.consumer(isolation_level=wanted.isolation_level, auto_offset_reset="earliest") as consumer:
        consumer.assign(partitions)
        for where in partitions:
            consumer.seek(where, starts[where])
        _print_until(consumer, ends, wanted, printer)


def _read_as_member(connection: Connection, wanted: "Wanted", printer: "Printer") -> None:
    """Commits what was printed, whatever ends the reading."""
    with connection.admin() as admin:
        partitions_of(admin, wanted.topic)
    reset = wanted.start.kind.name.lower()
    with connection.consumer(
        topics=[wanted.topic],
        group_id=wanted.group_id,
        isolation_level=wanted.isolation_level,
        auto_offset_reset=reset,
    ) as consumer:
        try:
            _print_until(consumer, None if wanted.follows else {}, wanted, printer)
        finally:
            if consumed := consumer.consumed_offsets():
                consumer.commit_sync(consumed)


def _print_until(consumer: "Consumer", ends: Ends | None, wanted: "Wanted", printer: "Printer") -> None:
    """To `ends`, which grow with what a group assigns; without them for ever, or until nothing comes any more."""
    last_record_s = time.monotonic()
    while not printer.has_enough:
        left = None if wanted.max_records is None else wanted.max_records - printer.count
        records = consumer.poll(POLL_S, max_records=BATCH if left is None else min(BATCH, left))
        if ends is not None and wanted.group_id is not None:
            _learn_ends(consumer, ends)
        if records:
            last_record_s = time.monotonic()
            # A member commits all that it was handed, so it prints all of that.
            is_member = wanted.group_id is not None
            printer.print(_shown(record) for record in records if is_member or _is_before(record, ends))
        elif not wanted.is_patient(last_record_s):
            return
        if ends and all(consumer.position(where) >= ends[where] for where in consumer.assignment()):
            return


def _learn_ends(consumer: "Consumer", ends: Ends) -> None:
    if unknown := [where for where in consumer.assignment() if where not in ends]:
        ends.update(consumer.end_offsets(unknown))


def _is_before(record: "ConsumerRecord", ends: Ends | None) -> bool:
    return ends is None or record.offset < ends[record.topic_partition]


def _shown(record: "ConsumerRecord") -> ShownRecord:
    return ShownRecord(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        timestamp_ms=record.timestamp_ms,
        key=record.key,
        value=record.value,
        headers=record.headers,
    )
