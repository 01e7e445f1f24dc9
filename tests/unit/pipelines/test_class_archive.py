"""Which archive of classes Spark's JVM is told of: that of its Java and its home, if it is there."""

from pathlib import Path

import pytest

from fencepost.pipelines.class_archive import PREFIX, archive_path, lean_spark_home, speaks_of_archive, using_archive


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / f"{PREFIX}1"
    home.mkdir()
    monkeypatch.setenv("SPARK_HOME", str(home))
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "java")))
    return home


def java_home(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").touch()
    return folder


def test_nothing_is_asked_of_the_jvm_until_there_is_an_archive(home: Path) -> None:
    path = archive_path()
    assert path is not None
    assert path.parent == home
    assert using_archive() == ""
    path.touch()
    assert using_archive().startswith(f'"-XX:SharedArchiveFile={path}" ')


def test_another_java_has_another_archive(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = archive_path()
    assert first == archive_path()
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "other")))
    assert archive_path() not in (None, first)


def test_a_spark_that_is_the_users_own_has_none(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    assert archive_path() is None
    assert using_archive() == ""
    monkeypatch.delenv("SPARK_HOME")
    assert archive_path() is None


def test_without_a_java_there_is_none(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert archive_path() is None


def test_the_archive_of_a_pyspark_that_is_gone_goes_when_another_is_seen_and_its_links_stay(tmp_path: Path) -> None:
    cache, gone, there = tmp_path / "cache", tmp_path / "gone", tmp_path / "there"
    for installed in (gone, there):
        (installed / "jars").mkdir(parents=True)
    old = lean_spark_home(gone, cache=cache)
    (old / "classes-1.jsa").touch()
    (gone / "jars").rmdir()
    new = lean_spark_home(there, cache=cache)
    (new / "classes-2.jsa").touch()
    assert [path.name for path in old.iterdir()] == ["jars"]
    lean_spark_home(tmp_path / "third", cache=cache)
    assert (new / "classes-2.jsa").exists()


def test_who_makes_an_archive_or_has_one_is_left_alone() -> None:
    assert speaks_of_archive("-Xmx1g -XX:ArchiveClassesAtExit=mine.jsa")
    assert speaks_of_archive("-XX:SharedArchiveFile=mine.jsa")
    assert not speaks_of_archive("-XX:+UseParallelGC")
