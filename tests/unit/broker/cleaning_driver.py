"""A broker with tiny segments whose journal is cleaned when a test says so, and readers of what is left.

`clean` lets time pass and runs one whole round, as the server would: scan by ticks, commit, then one piece of work
after the other. `KeyedProducer` writes keyed records, plain or in transactions.
"""

from dataclasses import dataclass, field
from typing import Any

from fencepost.lab.simulated_disk import SimulatedDisk
from fencepost.records.builder import build_batch
from fencepost.records.compression import Compression
from fencepost.records.control import read_marker
from fencepost.records.header import BatchHeader, read_header
from fencepost.records.reader import read_records
from fencepost.records.record import Record
from fencepost.types import Now
from fencepost.wire.messages.end_txn import EndTxnRequest
from fencepost.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.unit.broker.builders import Broker, batches_in, produce_request

SEGMENT_BYTES = 4096
ROUND_MS = 300_000
DAY_MS = 86_400_000
TRANSACTION_TIMEOUT_MS = 20 * DAY_MS
EVERYTHING = 2**40
SETTINGS = {"log_segment_bytes": str(SEGMENT_BYTES), "transaction_max_timeout_ms": str(TRANSACTION_TIMEOUT_MS)}

KeyedValue = tuple[bytes | None, bytes | None]


def small_broker(*, disk: SimulatedDisk | None = None, now: Now | None = None, **settings: str) -> Broker:
    return Broker(disk=disk, now=now, **{**SETTINGS, **settings})


def clean(broker: Broker, *, passed_ms: int = ROUND_MS) -> int:
    """One round of cleaning; how many times segments were replaced or dropped."""
    finish_round(broker)
    broker.sleep(passed_ms)
    return finish_round(broker)


def finish_round(broker: Broker) -> int:
    cleaner = broker.core.housekeeping.cleaner
    count = 0
    while cleaner.is_scanning:
        broker.sleep(0)
    while (cleaning := cleaner.begin()) is not None:
        cleaning.run()
        cleaner.finish(cleaning)
        count += cleaning.is_done
    return count


def fill(broker: Broker, *, segments: int = 2) -> None:
    """Write elsewhere until the journal has gone on by some segments."""
    if "filling" not in broker.core.state.catalogue.topics:
        broker.create_topic("filling", retention_bytes="0")
    for _ in range(segments * 4):
        broker.produce("filling", b"-" * (SEGMENT_BYTES // 4))


def stored(disk: SimulatedDisk, needle: bytes) -> int:
    """How often bytes occur in the files of the disk."""
    return sum(disk.open(name).pread(EVERYTHING, 0).count(needle) for name in disk.list_names())


def batches(broker: Broker, topic: str, partition: int = 0) -> list[BatchHeader]:
    """Of all that is in the journal, below the log's start too."""
    log = broker.core.log(topic, partition)
    assert log is not None
    found = broker.core.journal.read(log.partition_ref, 0, end_offset=log.state.high_watermark, max_bytes=EVERYTHING)
    return [read_header(batch) for batch in found]


def read_committed(broker: Broker, topic: str, partition: int = 0) -> list[Record]:
    """What a read_committed consumer gets, fetch by fetch, to the last stable offset; it must arrive there."""
    log = broker.core.log(topic, partition)
    assert log is not None
    offset, records = log.state.log_start_offset, []
    while True:
        data = broker.fetch(topic, partition, offset=offset, isolation_level=1)
        assert data.error_code == 0, data
        found = batches_in(data.records)
        if not found:
            assert offset == data.last_stable_offset, f"stuck at {offset}, the end is {data.last_stable_offset}"
            return records
        records += [record for record in _committed(found, data.aborted_transactions or []) if record.offset >= offset]
        offset = read_header(found[-1]).last_offset + 1


def _committed(found: Any, aborted: list[Any]) -> list[Record]:
    """The client's side of the aborted list, as Kafka's clients do it."""
    waiting = sorted(aborted, key=lambda each: each.first_offset)
    aborting: set[int] = set()
    records: list[Record] = []
    for batch in found:
        header = read_header(batch)
        while waiting and waiting[0].first_offset <= header.last_offset:
            aborting.add(waiting.pop(0).producer_id)
        if header.is_control:
            marker = read_marker(batch)
            if marker is not None and not marker.is_commit:
                aborting.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborting):
            records += read_records(batch)
    return records


def view(broker: Broker, topic: str, partition: int = 0) -> dict[bytes, bytes]:
    """The newest value of each key, as a reader of the whole topic is left with."""
    values: dict[bytes, bytes] = {}
    for record in read_committed(broker, topic, partition):
        if record.key is not None and record.value is not None:
            values[record.key] = record.value
        elif record.key is not None:
            values.pop(record.key, None)
    return values


@dataclass
class KeyedProducer:
    """Outside of transactions without a transactional id. Survives restarts of the broker: pass the new one in."""

    broker: Broker
    topic: str
    transactional_id: str | None = None
    compression: Compression = Compression.NONE
    _identity: tuple[int, int] = (-1, -1)
    _sequence: int = field(default=0)

    def __post_init__(self) -> None:
        if self.transactional_id is not None:
            self._identity = self.broker.init_producer(self.transactional_id, timeout_ms=TRANSACTION_TIMEOUT_MS)

    def send(self, *keyed: KeyedValue) -> int:
        """One batch; its base offset."""
        records = [Record(timestamp_ms=self.broker.now.wall_ms, key=key, value=value) for key, value in keyed]
        is_transactional = self.transactional_id is not None
        batch = build_batch(
            records,
            compression=self.compression,
            producer_id=self._identity[0],
            producer_epoch=self._identity[1],
            base_sequence=self._sequence if is_transactional else -1,
            is_transactional=is_transactional,
        )
        request = produce_request(self.topic, batch, transactional_id=self.transactional_id)
        (answer,) = self.broker.ask(request, 12).responses[0].partition_responses
        assert answer.error_code == 0, answer
        self._sequence += len(records)
        return int(answer.base_offset)

    def send_offset(self, group_id: str, offset: int) -> None:
        """Commit an offset of partition 0 inside the transaction."""
        partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        producer_id, producer_epoch = self._identity
        request = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id or "",
            group_id=group_id,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            topics=[TxnOffsetCommitRequestTopic(self.topic, [partition])],
        )
        answer = self.broker.ask(request, 5)
        assert answer.topics[0].partitions[0].error_code == 0, answer

    def end(self, *, commits: bool) -> None:
        request = EndTxnRequest(self.transactional_id or "", *self._identity, commits)
        answer = self.broker.ask(request, 5)
        assert answer.error_code == 0, answer
        self._identity, self._sequence = (answer.producer_id, answer.producer_epoch), 0

    def transact(self, *keyed: KeyedValue, commits: bool = True) -> int:
        base_offset = self.send(*keyed)
        self.end(commits=commits)
        return base_offset
