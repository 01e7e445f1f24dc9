"""Which archive of classes Spark's JVM is given: that of its Java and its Spark, if it is there."""

from pathlib import Path

import pytest

from fencepost.pipelines.class_archive import archive_path, names_an_archive, using_archive


@pytest.fixture(autouse=True)
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "java")))
    monkeypatch.delenv("SPARK_HOME", raising=False)


def java_home(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").touch(mode=0o755)
    return folder


def test_nothing_is_asked_of_the_jvm_until_there_is_an_archive(tmp_path: Path) -> None:
    path = archive_path()
    assert path is not None
    assert path.parent == tmp_path / "cache" / "fencepost"
    assert using_archive() == ""
    path.parent.mkdir(parents=True)
    path.touch()
    assert using_archive().startswith(f'"-XX:SharedArchiveFile={path}" ')


@pytest.mark.parametrize("variable", ["JAVA_HOME", "SPARK_HOME"])
def test_another_java_or_spark_has_another_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    first = archive_path()
    assert first == archive_path()
    monkeypatch.setenv(variable, str(java_home(tmp_path / "other")))
    assert archive_path() not in (None, first)


def test_without_a_java_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert archive_path() is None


def test_a_jvm_that_makes_an_archive_or_has_one_is_left_alone() -> None:
    assert names_an_archive("-Xmx1g -XX:ArchiveClassesAtExit=mine.jsa")
    assert names_an_archive("-XX:SharedArchiveFile=mine.jsa")
    assert not names_an_archive("-XX:+UseParallelGC")
