"""The Spark session of `fencepost run`: defaults that start fast and make small micro-batches cheap, all of which
`--set` may change.

A local session is this process and one JVM that ends with it, also after kill -9: the JVM reads its standard input to
the end. A session on a cluster (`--master`) keeps only the defaults that are right there.
"""

import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.pipelines.class_archive import cache_folder, lean_spark_home, names_an_archive, using_archive
from fencepost.pipelines.jvm import use_java
from fencepost.spark.options import is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[2]"
LOG_OPTION = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
FAST_JAVA = "-XX:+UseParallelGC"

STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
# Spark's own default writes each file of the checkpoint, and a checksum beside it, through two renames.
CHECKPOINT_FILES = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
}

EVERYWHERE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.scheduler.mode": "FAIR",
    "spark.sql.session.timeZone": "UTC",
    "spark.task.maxDirectResultSize": "256m",
    "spark.sql.streaming.numRecentProgressUpdates": "20",
    # As much as a core's cache holds: larger ones get fresh memory of the kernel each time.
    "spark.sql.execution.arrow.maxBytesPerBatch": "2m",
}

LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "2",
    "spark.python.daemon.module": "fencepost.pipelines.worker_daemon",
    **CHECKPOINT_FILES,
}


def session_settings(master: str, given: Mapping[str, str]) -> dict[str, str]:
    """What the session is made with: defaults for the master, and over them what was asked for."""
    defaults = {**EVERYWHERE, **(LOCAL if is_local(master) else {})}
    if "RocksDB" in given.get(STATE_STORE, ""):
        # RocksDB uploads its files through Spark's own local file system and no other.
        defaults = {name: value for name, value in defaults.items() if name not in CHECKPOINT_FILES}
    java_options = f"{LOG_OPTION} {given.get(JAVA_OPTIONS, FAST_JAVA)}"
    return {**defaults, **given, JAVA_OPTIONS: java_options}


def start_session(
    *, master: str = DEFAULT_MASTER, app_name: str = "fencepost", settings: Mapping[str, str] | None = None
) -> "SparkSession":
    prepare_environment(master)
    from pyspark.sql import SparkSession

    chosen = session_settings(master, settings or {})
    if is_local(master) and not names_an_archive(chosen[JAVA_OPTIONS]):
        chosen[JAVA_OPTIONS] = f"{using_archive()} {chosen[JAVA_OPTIONS]}"
    builder = SparkSession.builder.master(master).appName(app_name)
    for name, value in chosen.items():
        builder = builder.config(name, value)
    spark: SparkSession = builder.getOrCreate()
    return spark


def prepare_environment(master: str = DEFAULT_MASTER) -> None:
    """Must come before the JVM: workers run this interpreter, and local ones find pyspark where it is compiled."""
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    use_java(cache_folder())
    if is_local(master) and "SPARK_HOME" not in os.environ:
        import pyspark

        os.environ["SPARK_HOME"] = str(lean_spark_home(Path(pyspark.__file__).parent))
