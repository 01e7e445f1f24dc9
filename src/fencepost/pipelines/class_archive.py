"""What makes Spark start sooner, in the user's cache folder: a home without `pyspark.zip`, and an archive of classes.

Spark puts `$SPARK_HOME/python/lib/pyspark.zip` in front of the path of every Python process that it starts, of which
a run has half a dozen; source is read from it and compiled anew by each: 0.77 s of CPU instead of 0.22. Each has ten
seconds to call back. The home has the same `bin` and `jars`, as links, and no such file.

The archive has Spark's classes as the JVM keeps them in memory, in a file that it maps when it starts (class-data
sharing): a run that copies 100 records takes 18 s of CPU with it and 24 s without (two cores, medians of four).
`fencepost warm-up` makes it: a JVM that runs a stateless and a stateful pipeline, from topic to topic, writes down at
its end what it has loaded; what other pipelines need beyond that is read from its jar, as ever.

An archive belongs to one Java and one Spark. A JVM that finds it unfit leaves it alone and starts as if there were
none.
"""

import contextlib
import hashlib
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.errors import FencepostError
from fencepost.pipelines.pipeline import pipeline

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"
"""A JVM that cannot use the archive would say so among the output of the program."""
UNUSED_S = 30 * 24 * 3600
WRITE_TIMEOUT_S = 900.0
DRAIN_TIMEOUT_S = 600
PURCHASE = "customer string not null, amount bigint not null"
ROWS = [b'{"customer": "c%d", "amount": %d}' % (number % 7, number) for number in range(100)] + [b"not a purchase"]


class NoArchive(FencepostError):  # noqa: N818 - it names what there is not
    """There is no archive, and why."""


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "fencepost"


def lean_spark_home(installed: Path) -> Path:
    """For the pyspark that is installed there. Every process makes sure of the links before it uses them."""
    home = cache_folder() / f"spark-home-{hashlib.sha256(str(installed).encode()).hexdigest()[:12]}"
    home.mkdir(parents=True, exist_ok=True)
    for name in ("bin", "jars", "sbin"):
        with contextlib.suppress(FileExistsError):
            (home / name).symlink_to(installed / name)
    return home


def archive_path() -> Path | None:
    """Where the archive lies, or would; None without a Java or a Spark. Both are looked for as Spark does."""
    java_home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=Path(java_home) / "bin" if java_home else None)
    jars = Path(os.environ.get("SPARK_HOME", "")) / "jars"
    if found is None or not jars.exists():
        return None
    java = Path(found).resolve()
    owner = f"{java} {java.stat().st_mtime_ns} {jars} {jars.stat().st_mtime_ns}"
    return cache_folder() / f"classes-{hashlib.sha256(owner.encode()).hexdigest()[:12]}.jsa"


def using_archive() -> str:
    """Options for the JVM, none if there is no archive."""
    path = archive_path()
    if path is None or not path.exists():
        return ""
    with contextlib.suppress(OSError):  # it may be another user's, and can be used all the same
        os.utime(path)
    return f'"-XX:SharedArchiveFile={path}" {QUIET}'


def names_an_archive(java_options: str) -> bool:
    """A JVM that makes an archive, or was given another one, must not get ours."""
    return "ArchiveClassesAtExit" in java_options or "SharedArchiveFile" in java_options


def make_archive(path: Path, servers: str, folder: Path) -> Path:
    """Run pipelines on this broker, in a Spark of their own, and keep the archive that its JVM leaves."""
    from fencepost.client.producer.producer import Producer

    with Producer(servers) as producer:
        for row in ROWS:
            producer.send("purchases", value=row)
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_suffix(f".{os.getpid()}")
    try:
        run_pipelines(servers, folder, f'"-XX:ArchiveClassesAtExit={made}" {QUIET}')
        if not made.exists():
            raise NoArchive("this Java wrote no archive of its classes: Spark starts without one, only slower")
        # A JVM does not survive an archive that ends too early: all of it is on the disk before it has its name.
        with made.open("rb") as file:
            os.fsync(file.fileno())
        for archive in path.parent.rglob("classes-*.jsa"):
            with contextlib.suppress(FileNotFoundError):  # another warm-up has removed it
                if time.time() - archive.stat().st_mtime > UNUSED_S:
                    archive.unlink()
        return made.rename(path)
    finally:
        made.unlink(missing_ok=True)


def run_pipelines(servers: str, folder: Path, java_options: str) -> None:
    """Raises unless the JVM comes to a good end: one that was killed may have left half of an archive."""
    from fencepost.pipelines.jvm import end_session
    from fencepost.pipelines.run_options import RunOptions
    from fencepost.pipelines.session import JAVA_OPTIONS, start_session
    from fencepost.pipelines.stage import Stage, Target
    from fencepost.spark import register

    try:
        spark = start_session(settings={JAVA_OPTIONS: java_options})
    except RuntimeError as problem:
        raise NoArchive(f"Spark did not start with {java_options}: {problem}") from problem
    try:
        register(spark)
        for one in (invoices, balances):
            target = Target(servers, str(folder))
            stage = Stage(spark, one, target=target, options=RunOptions(), on_event=lambda _: None)
            stage.start(available_now=True)
            if stage.query is not None and not stage.query.awaitTermination(DRAIN_TIMEOUT_S):
                raise NoArchive(f"the pipeline '{one.name}' did not come to its end within {DRAIN_TIMEOUT_S} s")
            stage.stop(timeout_s=1)
    finally:
        exit_code = end_session(spark, timeout_s=WRITE_TIMEOUT_S)
    if exit_code != 0:
        raise NoArchive(f"Spark's JVM ended with {exit_code} while it wrote an archive of its classes")


@pipeline(name="invoices", reads="purchases", writes=["invoices", "dead-letters"])
def invoices(purchases: "DataFrame") -> "dict[str, DataFrame]":
    from fencepost.pipelines.parsing import parse_json

    purchases, unreadable = parse_json(purchases, PURCHASE)
    return {
        "invoices": purchases.selectExpr("parsed.customer AS key", "to_json(parsed) AS value"),
        "dead-letters": unreadable,
    }


@pipeline(name="balances", reads="invoices", writes="balances", output_mode="update")
def balances(invoices: "DataFrame") -> "DataFrame":
    amount = "cast(get_json_object(cast(value AS string), '$.amount') AS bigint)"
    by_customer = invoices.selectExpr("key", f"{amount} AS amount").groupBy("key").sum("amount")
    return by_customer.selectExpr("key", "cast(`sum(amount)` AS string) AS value")
