"""What a JVM does before it writes down its classes: a stateless and a stateful pipeline, from topic to topic.

What they load is what most pipelines load; what they do not is read from its jar, as ever.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.errors import FencepostError
from fencepost.pipelines.class_archive import making_archive, remove_archives
from fencepost.pipelines.jvm import end_session
from fencepost.pipelines.parsing import parse_json
from fencepost.pipelines.pipeline import Pipeline, pipeline
from fencepost.pipelines.run_options import RunOptions
from fencepost.pipelines.session import JAVA_OPTIONS, start_session
from fencepost.pipelines.stage import Stage, Target

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WRITE_TIMEOUT_S = 900.0
DRAIN_TIMEOUT_S = 600
PURCHASE = "customer string not null, amount bigint not null"
ROWS = [b'{"customer": "c%d", "amount": %d}' % (number % 7, number) for number in range(100)] + [b"not a purchase"]


class NoArchive(FencepostError):  # noqa: N818 - it names what there is not
    """There is no archive, and why."""


@pipeline(name="invoices", reads="purchases", writes=["invoices", "dead-letters"])
def invoices(purchases: "DataFrame") -> "dict[str, DataFrame]":
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


PIPELINES = (invoices, balances)


def make_archive(path: Path, servers: str, folder: Path) -> Path:
    """Run the pipelines on a broker of their own, in a Spark of its own, and return the archive that its JVM left."""
    from fencepost.client.producer.producer import Producer

    with Producer(servers) as producer:
        for row in ROWS:
            producer.send("purchases", value=row)
    made = path.with_suffix(f".{os.getpid()}")
    try:
        run_pipelines(Target(servers, str(folder)), making_archive(made))
        if not made.exists():
            raise NoArchive("this Java wrote no archive of its classes: Spark starts without one, only slower")
        keep(made)
        remove_archives(path.parent, but=path)
        return made.rename(path)
    finally:
        made.unlink(missing_ok=True)


def run_pipelines(target: Target, java_options: str) -> None:
    """Raises unless the JVM comes to a good end: one that was killed may have left half of an archive."""
    from fencepost.spark import register

    try:
        spark = start_session(settings={JAVA_OPTIONS: java_options})
    except RuntimeError as problem:
        raise NoArchive(f"Spark did not start with {java_options}: {problem}") from problem
    try:
        register(spark)
        for one in PIPELINES:
            drain(spark, one, target)
    finally:
        exit_code = end_session(spark, timeout_s=WRITE_TIMEOUT_S)
    if exit_code != 0:
        raise NoArchive(f"Spark's JVM ended with {exit_code} while it wrote an archive of its classes")


def keep(path: Path) -> None:
    """A JVM does not survive an archive that ends too early: nobody may see it before all of it is on the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def drain(spark: "SparkSession", one: Pipeline, target: Target) -> None:
    stage = Stage(spark, one, target=target, options=RunOptions(), on_event=lambda _: None)
    stage.start(available_now=True)
    try:
        if stage.query is not None and not stage.query.awaitTermination(DRAIN_TIMEOUT_S):
            raise NoArchive(f"the pipeline '{one.name}' did not come to its end within {DRAIN_TIMEOUT_S} s")
    finally:
        stage.stop(timeout_s=1)
