"""Which archive of classes Spark's JVM is told of: that of its Java and its home, if it is there."""

from pathlib import Path

import pytest

from fencepost.pipelines.class_archive import archive_path, using_archive
from fencepost.pipelines.spark_home import PREFIX, lean_spark_home


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


def test_what_was_kept_for_a_pyspark_that_is_gone_goes_when_another_is_seen(tmp_path: Path) -> None:
    cache, gone, there = tmp_path / "cache", tmp_path / "gone", tmp_path / "there"
    for installed in (gone, there):
        (installed / "jars").mkdir(parents=True)
    old = lean_spark_home(gone, cache=cache)
    (old / "classes-1.jsa").touch()
    (cache / f"{PREFIX}not-a-home").mkdir()
    (gone / "jars").rmdir()
    new = lean_spark_home(there, cache=cache)
    assert sorted(path.name for path in cache.iterdir()) == sorted([new.name, f"{PREFIX}not-a-home"])
