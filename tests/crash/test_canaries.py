"""Planted bugs that the exploration must find. A harness that lets one of these live proves nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from fencepost.journal import segment_scan
from fencepost.journal.commit import CommitGroup, GroupPart
from fencepost.journal.frames import FrameKind
from fencepost.journal.journal import Journal
from fencepost.journal.rewriting import SegmentRewriter
from fencepost.journal.segment_header import TEMPORARY_SUFFIX
from fencepost.lab.simulated_disk import CrashModel, SimulatedDisk, SimulatedFile
from tests.crash.explorer import Exploration
from tests.crash.watched_disk import WatchedDisk


def explore(*, recovery_stride: int = 1 << 30, **stand_ins: object) -> None:
    seed_counts = {CrashModel.KILLED: 1, CrashModel.POWER_LOST: 4, CrashModel.TORN: 2}
    Exploration(1, seed_counts, recovery_stride=recovery_stride, **stand_ins).run()


def test_acknowledging_before_the_sync_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def write_only(group: CommitGroup, part: GroupPart) -> None:
        part.segment.file.pwritev(part.pieces, part.place)
        if not part.segment.is_named:
            group.disk.rename(part.segment.temporary_name, part.segment.name)
            group.disk.sync_folder()
            part.segment.is_named = True

    monkeypatch.setattr(CommitGroup, "_write", write_only)
    with pytest.raises(AssertionError, match=r"lost|not a segment"):
        explore()


class DiskThatForgetsNames(WatchedDisk):
    def sync_folder(self) -> None:
        self._begin_operation()


def test_never_syncing_the_folder_is_caught() -> None:
    with pytest.raises(AssertionError, match="are lost"):
        explore(disk=DiskThatForgetsNames)


def test_naming_a_segment_before_its_bytes_are_synced_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def name_first(group: CommitGroup, part: GroupPart) -> None:
        if not part.segment.is_named:
            group.disk.rename(part.segment.temporary_name, part.segment.name)
            group.disk.sync_folder()
            part.segment.is_named = True
        part.segment.file.pwritev(part.pieces, part.place)
        part.segment.file.datasync()

    monkeypatch.setattr(CommitGroup, "_write", name_first)
    with pytest.raises(AssertionError, match="CorruptLog"):
        explore()


def test_publishing_a_cleaned_segment_before_it_is_synced_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    datasync = SimulatedFile.datasync

    def lazy(file: SimulatedFile) -> None:
        if not file.name.endswith(f".journal{TEMPORARY_SUFFIX}"):
            datasync(file)

    monkeypatch.setattr(SimulatedFile, "datasync", lazy)
    with pytest.raises(AssertionError, match="CorruptLog"):
        explore()


def test_removing_merged_segments_before_the_merged_one_has_its_name_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def publish_without_sync(rewriter: SegmentRewriter) -> None:
        for name in rewriter._names:
            rewriter._disk.rename(name + TEMPORARY_SUFFIX, name)

    monkeypatch.setattr(SegmentRewriter, "publish", publish_without_sync)
    with pytest.raises(AssertionError, match="missing"):
        explore()


def test_cleaning_past_the_covering_checkpoint_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Journal, "kept_checkpoints", lambda journal: frozenset({journal.last_position + 1}))
    with pytest.raises(AssertionError, match=r"missing or changed|checkpoint|adds up"):
        explore()


def open_with(switch: Callable[[], object]) -> Callable[..., Journal]:
    """A stand-in for `Journal.open` during which something is switched off."""

    def opens(*arguments: object, **named: object) -> Journal:
        with switch():
            return Journal.open(*arguments, **named)

    return opens


def test_recovery_that_vouches_for_bytes_it_never_synced_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def without_datasync() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(SimulatedFile, "datasync", lambda file: file._disk._begin_operation())
            yield

    with pytest.raises(AssertionError, match="in recovery"):
        explore(recovery_stride=1, opens=open_with(without_datasync))


def test_recovery_that_rests_on_names_it_never_synced_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def without_folder_sync() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(SimulatedDisk, "sync_folder", SimulatedDisk._begin_operation)
            yield

    with pytest.raises(AssertionError, match="in recovery"):
        explore(recovery_stride=1, opens=open_with(without_folder_sync))


def test_a_seal_written_together_with_the_last_group_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would vouch for bytes that may be torn, and turn a torn tail into damage."""
    write = CommitGroup._write

    def write_with_seal(group: CommitGroup, part: GroupPart) -> None:
        seal = part.segment.seal_frame() if not part.segment.has_pending else b""
        part.segment.file.pwritev([*part.pieces, seal], part.place)
        write(group, part)

    monkeypatch.setattr(CommitGroup, "_write", write_with_seal)
    with pytest.raises(AssertionError, match="below what was synced"):
        explore()


def test_frames_that_are_believed_without_their_checksum_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    scan_frames = segment_scan.scan_frames

    def credulous(*arguments: object, **named: object) -> Iterator[object]:
        for frame in scan_frames(*arguments, **named):
            is_doubted = frame.fault == "the payload fails its checksum" and frame.kind == FrameKind.BATCH
            yield frame._replace(fault="") if is_doubted else frame

    monkeypatch.setattr(segment_scan, "scan_frames", credulous)
    with pytest.raises(AssertionError):
        explore()
