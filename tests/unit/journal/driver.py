"""A journal under test on a simulated disk: appends batches with known bytes and remembers them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from fencepost.journal.journal import Journal, JournalConfig
from fencepost.lab.simulated_disk import SimulatedDisk
from fencepost.records.header import BatchHeader, read_header, write_header
from fencepost.types import Buffer

ALL_OFFSETS = 2**62
ALL_BYTES = 2**40


def build_batch(base_offset: int, payload: bytes, *, record_count: int = 1, timestamp_ms: int = 0) -> bytes:
    times = (timestamp_ms, timestamp_ms)
    header = BatchHeader(base_offset, 0, 0, 2, 0, 0, record_count - 1, *times, -1, -1, -1, record_count)
    return write_header(header, payload) + payload


def salts(seed: int = 1) -> Callable[[], int]:
    generator = Random(seed)
    return lambda: generator.getrandbits(64)


class JournalDriver:
    def __init__(
        self, disk: SimulatedDisk | None = None, *, segment_bytes: int = 4096, syncs_commits: bool = True
    ) -> None:
        self.disk = disk or SimulatedDisk()
        self.config = JournalConfig(segment_bytes=segment_bytes, syncs_commits=syncs_commits)
        self.appended: dict[int, list[bytes]] = {}
        self.end_offsets: dict[int, int] = {}
        self._salt = salts()
        self.journal = self._open()

    def _open(self, *, salvage: bool = False) -> Journal:
        return Journal.open(self.disk, self.config, salt=self._salt, salvage=salvage)

    def append(
        self, partition_ref: int = 1, payload: bytes = b"", *, record_count: int = 1, timestamp_ms: int = 0
    ) -> int:
        base_offset = self.end_offsets.get(partition_ref, 0)
        batch = build_batch(base_offset, payload, record_count=record_count, timestamp_ms=timestamp_ms)
        position = self.journal.append(partition_ref, [batch[:61], memoryview(batch)[61:]], read_header(batch))
        self.end_offsets[partition_ref] = base_offset + record_count
        self.appended.setdefault(partition_ref, []).append(batch)
        return position

    def write(self, partition_ref: int = 1, payload: bytes = b"", **named: int) -> int:
        position = self.append(partition_ref, payload, **named)
        self.journal.commit()
        return position

    def checkpoint(self, state: bytes) -> int:
        position = self.journal.append_checkpoint(state)
        self.journal.commit()
        return position

    def read(
        self,
        partition_ref: int = 1,
        start_offset: int = 0,
        *,
        end_offset: int = ALL_OFFSETS,
        max_bytes: int = ALL_BYTES,
        at_least_one: bool = True,
    ) -> list[bytes]:
        found: list[Buffer] = self.journal.read(
            partition_ref, start_offset, end_offset=end_offset, max_bytes=max_bytes, at_least_one=at_least_one
        )
        return [bytes(batch) for batch in found]

    def replayed(self) -> list[tuple[int, bytes]]:
        return [(entry.position, bytes(entry.payload)) for entry in self.journal.replay()]

    def kill(self, *, salvage: bool = False) -> None:
        """The process dies; the next one opens what it wrote."""
        self.disk = self.disk.snapshot()
        self.journal = self._open(salvage=salvage)

    def restart(self, *, salvage: bool = False) -> None:
        """A clean close, and the next process."""
        self.journal.close()
        self.journal = self._open(salvage=salvage)

    def segment_names(self) -> list[str]:
        return [name for name in self.disk.list_names() if name.endswith(".journal")]


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """Cleaning by start offsets alone: what a partition's log start offset has passed is dropped."""

    start_offsets: Mapping[int, int] = field(default_factory=dict)

    def start_offset(self, partition_ref: int) -> int:
        return self.start_offsets.get(partition_ref, 0)

    def is_compacted(self, partition_ref: int) -> bool:
        return False

    def compact(self, partition_ref: int, batch: memoryview) -> Buffer | None:
        return batch
