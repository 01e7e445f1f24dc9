"""What every question shares: a cluster to ask, names that nobody else uses, and the table of answers."""

import itertools
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from examples.documents.stage import BROKER_SETTINGS
from examples.documents.waiting import wait_for
from fencepost.client import Admin, Consumer, ConsumerRecord, TopicPartition
from fencepost.server.embedded import EmbeddedBroker

FLOWS = {"1": "classic flow", "2": "flow of KIP-890"}
"""By `transaction.version`: the flow that the documents describe, and the one with an epoch for every transaction."""

_run = uuid.uuid4().hex[:8]
_numbers = itertools.count(1)


@contextmanager
def open_cluster(bootstrap_servers: str | None, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """The cluster that is named, or a broker of its own with these settings."""
    if bootstrap_servers is not None:
        yield bootstrap_servers
        return
    with EmbeddedBroker(settings=BROKER_SETTINGS | dict(settings or {})) as broker:
        yield broker.bootstrap_servers


def flows(bootstrap_servers: str | None) -> list[str]:
    """Both, on brokers of our own; a cluster that is named is taken to have the newer one."""
    return ["2"] if bootstrap_servers else list(FLOWS)


def fresh(stem: str) -> str:
    """A name for a topic, a group or a transactional id that no other run has used."""
    return f"{stem}-{_run}-{next(_numbers)}"


def create_topic(admin: Admin, stem: str, partition_count: int = 1) -> str:
    topic = fresh(stem)
    admin.create_topic(topic, partition_count, 1)
    wait_for(f"{topic} is there", lambda: len(admin.describe_topics([topic])[topic].partitions) == partition_count)
    return topic


def ends(admin: Admin, where: TopicPartition) -> tuple[int, int]:
    """The end of a partition, and the end that a reader of committed records is shown."""
    return admin.latest_offsets([where])[where], admin.latest_offsets([where], read_committed=True)[where]


def read_all(
    servers: str, partitions: Iterable[TopicPartition], *, isolation_level: str = "read_committed"
) -> list[ConsumerRecord]:
    """What a reader from the beginning gets, up to the end as it is shown to it now."""
    wanted = list(partitions)
    records: list[ConsumerRecord] = []
    with Consumer(servers, auto_offset_reset="earliest", isolation_level=isolation_level) as consumer:
        consumer.assign(wanted)
        last = consumer.end_offsets(wanted)

        def has_arrived() -> bool:
            records.extend(consumer.poll(0.1))
            return all(consumer.position(where) >= end for where, end in last.items())

        wait_for("the end of what there is to read", has_arrived)
    return sorted(records, key=lambda record: (record.topic, record.partition, record.offset))


def partitions_of(admin: Admin, topic: str) -> list[TopicPartition]:
    return [TopicPartition(topic, partition) for partition in sorted(admin.describe_topics([topic])[topic].partitions)]


def print_rows(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
