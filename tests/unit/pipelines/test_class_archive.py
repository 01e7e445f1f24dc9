"""Which archive of classes Spark's JVM is given: that of its Java and its Spark, if it is there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fencepost.pipelines.class_archive import archive_path, lean_spark_home, names_an_archive, using_archive


@pytest.fixture(autouse=True)
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "java")))
    monkeypatch.setenv("SPARK_HOME", str(spark_home(tmp_path / "spark")))


def spark_home(folder: Path) -> Path:
    for name in ("bin", "jars", "python/lib"):
        (folder / name).mkdir(parents=True)
    (folder / "python" / "lib" / "pyspark.zip").touch()
    return folder


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


@pytest.mark.parametrize(("variable", "make"), [("JAVA_HOME", java_home), ("SPARK_HOME", spark_home)])
def test_another_java_or_spark_has_another_archive_and_none_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, make: Callable[[Path], Path]
) -> None:
    first = archive_path()
    assert first == archive_path()
    monkeypatch.setenv(variable, str(make(tmp_path / "other")))
    assert archive_path() not in (None, first)
    monkeypatch.setenv(variable, str(tmp_path / "nowhere"))
    assert archive_path() is None


def test_a_lean_home_has_the_jars_and_not_the_zip_and_an_installation_elsewhere_has_its_own(tmp_path: Path) -> None:
    installed = tmp_path / "spark"
    home = lean_spark_home(installed)
    assert lean_spark_home(installed) == home, "it is made once"
    for name in ("bin", "jars"):
        assert (home / name).resolve() == (installed / name).resolve()
    assert not (home / "python").exists()
    assert lean_spark_home(installed.rename(tmp_path / "elsewhere")) != home


def test_a_jvm_that_makes_an_archive_or_has_one_is_left_alone() -> None:
    assert names_an_archive("-Xmx1g -XX:ArchiveClassesAtExit=mine.jsa")
    assert names_an_archive("-XX:SharedArchiveFile=mine.jsa")
    assert not names_an_archive("-XX:+UseParallelGC")


def test_an_archive_of_another_user_is_used_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive_path()
    assert path is not None
    path.parent.mkdir(parents=True)
    path.touch()

    def refuse(_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.utime", refuse)
    assert using_archive().startswith(f'"-XX:SharedArchiveFile={path}" ')
