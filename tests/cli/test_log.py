"""`fencepost log` over data folders, and Kafka's own dump tool over what it exports."""

import re
import subprocess
from pathlib import Path

import pytest

from fencepost.server.embedded import EmbeddedBroker
from tests.cli.conftest import Folder
from tests.cli.running import Cli, run_command
from tests.peers import require_jars


def fill(broker: EmbeddedBroker) -> None:
    """Plain, committed, aborted, with headers, compressed, open: what a log can hold."""
    cli = Cli(broker.bootstrap_servers)
    cli("topics", "create", "shop", "-p", "1")
    cli("produce", "shop", "-s", ":", "-H", "source=web", "-H", "lang=en", typed="k1:plain\nk2:second\n")
    cli("produce", "shop", "--transactional-id", "first", typed="committed\n")
    cli("produce", "shop", "--transactional-id", "second", "--abort", typed="aborted\n" * 3)
    cli("produce", "shop", "-X", "compression.type=gzip", typed="squeezed\n" * 20)
    cli("produce", "shop", "--transactional-id", "open", "--leave-open", typed="open\n")
    cli("produce", "shop", "--transactional-id", "third", "--abort", typed="aborted behind an open one\n")
    cli("consume", "shop", "--group", "readers")


@pytest.fixture
def filled(folder: Folder) -> Path:
    with folder.broker() as broker:
        fill(broker)
    return folder.path


def log(*arguments: str, folder: Path) -> list[str]:
    printed = run_command("log", *arguments, "--data", str(folder))
    assert printed.exit_code == 0, printed
    return printed.lines


def test_batches_are_printed_in_the_lines_of_the_documents(filled: Path) -> None:
    lines = log("dump", "shop-0", folder=filled)
    assert lines[1] == "Log starting offset: 0"
    shape = (
        r"baseOffset: 0 lastOffset: 1 count: 2 baseSequence: 0 lastSequence: 1 producerId: \d+ producerEpoch: 0 "
        r"partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty "
        r"position: 0 CreateTime: \d+ size: \d+ magic: 2 compresscodec: none crc: \d+ isvalid: true"
    )
    assert re.fullmatch(shape, lines[2])
    markers = [line.rpartition("endTxnMarker: ")[2].split()[0] for line in lines if "endTxnMarker" in line]
    assert markers == ["COMMIT", "ABORT", "ABORT"]


def test_the_aborted_index_is_printed_in_the_lines_of_the_documents(filled: Path) -> None:
    first, second = log("dump", "shop-0", "--txnindex", folder=filled)
    shape = r"version: 0 producerId: \d+ firstOffset: (\d+) lastOffset: (\d+) lastStableOffset: (\d+)"
    found = [re.fullmatch(shape, line) for line in (first, second)]
    assert [tuple(map(int, match.groups())) for match in found if match] == [(4, 7, 8), (29, 30, 28)]


def test_the_internal_topics_are_decoded(filled: Path) -> None:
    states = [line for line in log("dump", "--transaction-state", folder=filled) if "transactionalId: second" in line]
    assert [re.search(r"state: (\w+)", line)[1] for line in states] == [  # type: ignore[index]
        "Empty",
        "Ongoing",
        "PrepareAbort",
        "CompleteAbort",
    ]
    assert "partitions: [shop-0]" in states[1]
    offsets = [line for line in log("dump", "--offsets", folder=filled) if "group: readers" in line]
    assert any("of: shop-0 committed: 28" in line for line in offsets)


def test_a_folder_tells_what_it_holds_even_while_a_broker_works_in_it(folder: Folder) -> None:
    with folder.broker() as broker:
        fill(broker)
        rows = [line.split() for line in log("dump", folder=folder.path)]
        assert ["shop-0", "0", "28", "31"] in rows
        assert "every checksum is right" in log("verify", folder=folder.path)[0]
        kinds = {re.search(r"kind: (\w+)", line)[1] for line in log("dump", "--journal", folder=folder.path)}  # type: ignore[index]
        assert {"BATCH", "GROUP"} <= kinds


def test_what_was_deleted_is_not_dumped_and_a_new_topic_of_the_name_is(folder: Folder) -> None:
    with folder.broker() as broker:
        cli = Cli(broker.bootstrap_servers)
        for value in ("old\n", "new\n"):
            cli("topics", "create", "shop")
            cli("produce", "shop", typed=value * 3)
            if value == "old\n":
                cli("topics", "delete", "shop", "--yes")
    payloads = [line for line in log("dump", "shop-0", "--records", folder=folder.path) if "payload" in line]
    assert [line.rpartition("payload: ")[2] for line in payloads] == ["new"] * 3


def test_damage_is_found_and_has_an_exit_code_of_its_own(filled: Path) -> None:
    segment = next(filled.glob("*.journal"))
    data = bytearray(segment.read_bytes())
    at = data.index(b"committed")
    data[at] ^= 1
    segment.write_bytes(data)
    printed = run_command("log", "verify", "--data", str(filled))
    assert printed.exit_code == 4
    assert segment.name in printed.out


def test_a_folder_or_partition_that_is_not_there_is_an_error(filled: Path, tmp_path: Path) -> None:
    assert run_command("log", "dump", "nope-0", "--data", str(filled)).exit_code == 1
    assert "no journal" in run_command("log", "dump", "--data", str(tmp_path)).err
    assert run_command("log", "dump", "--data", str(tmp_path / "nope")).exit_code == 2
    assert not (tmp_path / "nope").exists()


def test_exported_segments_are_cut_by_size_and_hold_the_batches_as_stored(filled: Path, tmp_path: Path) -> None:
    log("export", "shop-0", "--to", str(tmp_path / "one"), folder=filled)
    log("export", "shop-0", "--to", str(tmp_path / "many"), "--segment-bytes", "1024", folder=filled)
    [whole] = (tmp_path / "one" / "shop-0").glob("*.log")
    parts = sorted((tmp_path / "many" / "shop-0").glob("*.log"))
    assert len(parts) == 1 if whole.stat().st_size <= 1024 else len(parts) > 1
    assert b"".join(part.read_bytes() for part in parts) == whole.read_bytes()
    indexes = sorted((tmp_path / "many" / "shop-0").glob("*.txnindex"))
    assert sum(index.stat().st_size for index in indexes) == 2 * 34
    again = run_command("log", "export", "shop-0", "--to", str(tmp_path / "one"), "--data", str(filled))
    assert again.exit_code == 1


@pytest.mark.kafka
def test_kafkas_own_dump_tool_reads_the_exported_files_with_the_same_result(filled: Path, tmp_path: Path) -> None:
    jars = require_jars()
    log("export", "shop-0", "--to", str(tmp_path), folder=filled)
    [segment] = (tmp_path / "shop-0").glob("*.log")
    files = f"{segment},{segment.with_suffix('.txnindex')}"
    tool = ["java", "-cp", f"{jars}/*", "org.apache.kafka.tools.DumpLogSegments", "--print-data-log", "--files", files]
    theirs = subprocess.run(tool, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    at = theirs.index(f"Dumping {segment.with_suffix('.txnindex')}")
    assert log("dump", "shop-0", "--records", folder=filled)[1:] == theirs[1:at]
    assert log("dump", "shop-0", "--txnindex", folder=filled) == theirs[at + 1 :]
