"""Writes the golden data folder of storage format 1: `tests/golden/v1/journal`.

Run it once per storage format, never again for a released one: later versions must open what is checked in. All of it
comes from fixed seeds. It holds sealed segments, a cleaned one, one that a kill left without seal and index, two
checkpoints, and every kind of frame.
"""

import shutil
import sys
from pathlib import Path
from random import Random

from fencepost.broker.cleaner import BrokerCleaningPolicy
from fencepost.journal.journal import Journal, JournalConfig
from fencepost.journal.segment_header import FORMAT_VERSION
from fencepost.records.builder import build_batch
from fencepost.records.header import read_header
from fencepost.records.record import Record
from fencepost.server.file_disk import LOCK_NAME, FileDisk

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "golden" / f"v{FORMAT_VERSION}" / "journal"
CONFIG = JournalConfig(segment_bytes=4096)


def append(journal: Journal, partition_ref: int, offset: int) -> None:
    """One batch of two records whose contents tell where they belong."""
    records = [
        Record(
            offset + n, 1_700_000_000_000 + offset + n, b"key-%d" % n, b"value-%d-%d" % (partition_ref, offset + n), ()
        )
        for n in range(2)
    ]
    batch = build_batch(records, base_offset=offset, leader_epoch=3)
    journal.append(partition_ref, [batch], read_header(batch))


def write_life(folder: Path, salt: Random, *, start_offset: int) -> Journal:
    journal = Journal.open(FileDisk(folder), CONFIG, salt=lambda: salt.getrandbits(64))
    for offset in range(start_offset, start_offset + 30, 2):
        for partition_ref in (0, 1, 2):
            append(journal, partition_ref, offset)
        journal.commit()
    journal.append_checkpoint(b"state at %d" % (start_offset + 30))
    journal.commit()
    return journal


def main() -> int:
    if FOLDER.exists() and "--force" not in sys.argv:
        print(f"{FOLDER.relative_to(ROOT)} is there, and a released format never changes; --force writes it anew")
        return 1
    shutil.rmtree(FOLDER, ignore_errors=True)
    salt = Random(1)
    write_life(FOLDER, salt, start_offset=0).close()
    journal = write_life(FOLDER, salt, start_offset=30)
    position = 1
    policy = BrokerCleaningPolicy({0: 0, 1: 18}, next_ref=2, plans={})
    while cleaning := journal.begin_cleaning(policy, from_position=position):
        cleaning.run()
        journal.finish_cleaning(cleaning)
        position = cleaning.next_position
    append(journal, 2, 60)
    journal.commit()
    # Not closed: the last segment has neither seal nor index, as after a kill.
    del journal
    for leftover in [*FOLDER.glob("*.tmp"), FOLDER / LOCK_NAME]:
        leftover.unlink(missing_ok=True)
    for path in sorted(FOLDER.iterdir()):
        print(f"{path.stat().st_size:>7} {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
