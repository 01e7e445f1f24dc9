"""Reading with what readers do not get: markers, aborted records, records of open transactions, each with its status.

Following goes up to the last stable offset, where everything is decided, or with --open or read_uncommitted to the end:
a record that is printed as open may commit later.
"""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fencepost.cli.connection import Connection
from fencepost.cli.places import Place, PlaceKind, partitions_of, resolve
from fencepost.cli.record_output import ShownRecord
from fencepost.client.admin import Admin
from fencepost.client.admin_inspecting import InspectedBatch, Outcome, inspect_batches
from fencepost.client.time_limits import Deadline
from fencepost.records.reader import read_records
from fencepost.types import OffsetRange, TopicPartition

if TYPE_CHECKING:
    from fencepost.cli.consume import Printer, Wanted

PAUSE_S = 0.2
PATIENCE_S = 600.0


def read(connection: Connection, wanted: "Wanted", printer: "Printer") -> None:
    with connection.admin() as admin:
        partitions = partitions_of(admin, wanted.topic, wanted.partitions)
        positions = resolve(admin, partitions, wanted.start, read_committed=reads_stable(wanted))
        ends = resolve(admin, partitions, wanted.end or Place(PlaceKind.LATEST), read_committed=reads_stable(wanted))
        last_record_s = time.monotonic()
        while True:
            before = printer.count
            for where in partitions:
                printer.print(shown_records(admin, where, OffsetRange(positions[where], ends[where]), wanted))
                positions[where] = max(positions[where], ends[where])
            if not wanted.follows or wanted.end is not None or printer.has_enough:
                return
            if printer.count > before:
                last_record_s = time.monotonic()
            elif (
                wanted.idle_timeout_ms is not None and time.monotonic() - last_record_s > wanted.idle_timeout_ms / 1000
            ):
                return
            time.sleep(PAUSE_S)
            ends = admin.latest_offsets(partitions, read_committed=reads_stable(wanted))


def reads_stable(wanted: "Wanted") -> bool:
    return wanted.is_read_committed and "open" not in wanted.statuses


def shown_records(admin: Admin, where: TopicPartition, offsets: OffsetRange, wanted: "Wanted") -> Iterator[ShownRecord]:
    if not len(offsets):
        return
    for batch in inspect_batches(admin.cluster, where, offsets, deadline=Deadline(PATIENCE_S)):
        if is_wanted(batch.outcome, wanted):
            yield from (shown for shown in unpacked(batch) if shown.offset in offsets)


def is_wanted(outcome: Outcome, wanted: "Wanted") -> bool:
    if outcome is Outcome.MARKER:
        return "marker" in wanted.statuses
    if outcome in (Outcome.PLAIN, Outcome.COMMITTED) or not wanted.is_read_committed:
        return True
    return outcome.value in wanted.statuses


def unpacked(batch: InspectedBatch) -> Iterator[ShownRecord]:
    for record in read_records(batch.batch):
        yield ShownRecord(
            topic=batch.topic_partition.topic,
            partition=batch.topic_partition.partition,
            offset=record.offset,
            timestamp_ms=record.timestamp_ms,
            key=record.key,
            value=record.value,
            headers=record.headers,
            status=batch.outcome.value,
            producer_id=batch.header.producer_id,
            producer_epoch=batch.header.producer_epoch,
            marker=batch.marker,
        )
