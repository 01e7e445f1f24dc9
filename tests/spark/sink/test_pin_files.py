"""Files of encoded batches: read back as written, gone with the micro-batch, gone after a driver that was killed."""

import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from fencepost.records.columnar.encode import encode_batches
from fencepost.spark import SinkEvent, TransactionalSink
from fencepost.spark.sink.errors import InvalidRow
from fencepost.spark.sink.pin_files import PREFIX, BatchFile, BatchFiles, PinFolder

HOLDER = """
import time
from fencepost.spark.sink.pin_files import PinFolder
folder = PinFolder()
print(folder.new(), flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Processes that a test starts look here, too."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def folders(temporary: Path) -> list[Path]:
    return sorted(temporary.glob(f"{PREFIX}*"))


def batch_of(value: bytes) -> bytes:
    (batch,) = encode_batches(pa.table({"value": [value]}), default_timestamp_ms=1)
    return bytes(batch)


def test_batches_are_read_back_from_their_places_and_damage_is_told() -> None:
    written = [batch_of(b"first"), batch_of(b""), batch_of(b"x" * 70)]
    with PinFolder() as folder, BatchFiles() as files:
        here = folder.new()
        with BatchFile(here) as first, BatchFile(here) as second:
            places = [(file.path, file.append(batch), batch) for file in (first, second) for batch in written]
        for path, position, batch in places:
            assert files.read(path, position, len(batch)) == batch
        path, position, batch = places[2]
        with pytest.raises(OSError, match=r"does not hold what was written to it"):
            files.read(path, position + 1, len(batch))
        with pytest.raises(OSError, match=r"does not hold what was written to it"):
            files.read(path, position - 1, len(batch))


def test_more_files_than_a_process_may_open_are_read() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 512), hard))
    try:
        with PinFolder() as folder, BatchFiles() as files:
            here, batch, paths = folder.new(), batch_of(b"v"), []
            for _ in range(600):
                with BatchFile(here) as file:
                    file.append(batch)
                    paths.append(file.path)
            assert all(files.read(path, 0, len(batch)) == batch for path in paths)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_folder_that_somebody_tidied_away_is_made_anew(temporary: Path) -> None:
    with PinFolder() as folder:
        shutil.rmtree(Path(folder.new()).parent)
        assert Path(folder.new()).exists()
    assert folders(temporary) == []


def test_a_sink_that_is_closed_leaves_nothing(temporary: Path) -> None:
    with PinFolder() as folder:
        assert folders(temporary) == []
        assert Path(folder.new()).parent == Path(folder.new()).parent == folders(temporary)[0]
    assert folders(temporary) == []


def test_what_a_killed_driver_left_goes_and_what_a_living_one_holds_stays(temporary: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        try:
            told = other.stdout.readline().strip()
            assert told
            theirs = Path(told)
            with PinFolder() as folder:
                folder.new()
                assert theirs.exists()
        finally:
            other.kill()
        assert other.wait() == -signal.SIGKILL
        assert theirs.exists()
        with PinFolder() as folder:
            ours = Path(folder.new()).parent
            assert folders(temporary) == [ours]


def test_a_micro_batch_leaves_no_file_behind_and_one_that_fails_neither(
    spark: SparkSession, servers: str, temporary: Path
) -> None:
    events: list[SinkEvent] = []
    with TransactionalSink(servers, name="tidy", topic="out", mode="driver", on_event=events.append) as sink:
        sink.write(spark.range(100).selectExpr("cast(id AS string) AS value"), token="good")
        (own,) = folders(temporary)
        assert [path.name for path in own.iterdir()] == ["lock"]
        with pytest.raises(InvalidRow, match="there is no 99"):
            sink.write(spark.range(1).selectExpr("99 AS partition", "'v' AS value"), token="bad")
        assert [path.name for path in own.iterdir()] == ["lock"]
    assert events[0].row_count == 100
    assert events[0].size_bytes > 100
    assert folders(temporary) == []
