"""Files of encoded batches: read back as written, gone with the micro-batch, gone after a driver that was killed."""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fencepost.spark import SinkEvent, TransactionalSink
from fencepost.spark.pin_files import PREFIX, BatchFile, BatchFiles, PinFolder
from fencepost.spark.sink_errors import InvalidRow

HOLDER = """
import sys, time
from fencepost.spark.pin_files import PinFolder
from fencepost.spark.sink_errors import InvalidRow
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


def test_batches_are_read_back_from_their_places() -> None:
    with PinFolder() as folder, BatchFiles() as files:
        here = folder.new()
        with BatchFile(here) as first, BatchFile(here) as second:
            places = [
                (file.path, file.append(batch), len(batch), batch) for file in (first, second) for batch in WRITTEN
            ]
        for path, position, size, batch in places:
            assert files.read(path, position, size) == batch
        with pytest.raises(OSError, match=r"has 0 bytes from 90 on, and 5 were written"):
            files.read(places[0][0], 90, 5)


WRITTEN = [b"first", b"", b"x" * 70]


def test_a_sink_that_is_closed_leaves_nothing(temporary: Path) -> None:
    with PinFolder() as folder:
        assert folders(temporary) == []
        assert Path(folder.new()).parent == Path(folder.new()).parent == folders(temporary)[0]
    assert folders(temporary) == []


def test_what_a_killed_driver_left_goes_and_what_a_living_one_holds_stays(temporary: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().strip())
        with PinFolder() as folder:
            folder.new()
            assert theirs.exists()
        other.send_signal(signal.SIGKILL)
        other.wait()
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
