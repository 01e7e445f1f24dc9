"""The JVM behind a session: whether it lives, and that it is gone when a run ends.

It ends with the driver, however the driver ends, because it reads its standard input to the end. Here is what a clean
end adds: wait for it, and kill it where it does not go.
"""

import contextlib
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

END_TIMEOUT_S = 15.0
DYING_S = 5.0
"""Its sockets are closed a moment before the process is gone."""


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
