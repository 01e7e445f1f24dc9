"""`fencepost audit`: proves exactly-once between input and output topics, or names the offending offsets."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fencepost.cli.failures import DONE, FAILED, require_spark
from fencepost.cli.options import Connection, connection_options
from fencepost.cli.output import json_option, print_json
from fencepost.pipelines.audit import (
    SHOWN_MAX,
    KeyRule,
    PipelineRule,
    Verdict,
    audit,
    check_can_judge,
    committed_ends,
    read_outputs,
    read_topic,
)
from fencepost.pipelines.jvm import end_session
from fencepost.pipelines.loading import SessionStarter, load_pipelines, split_target
from fencepost.pipelines.pipeline import Pipeline
from fencepost.pipelines.run_options import session_options, sort_options
from fencepost.pipelines.session import DEFAULT_MASTER
from fencepost.pipelines.state import shape_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RECORD_KEY = "cast(key as string)"


@click.command("audit")
@click.argument("target", metavar="[FILE.py[:NAME]]", required=False)
@connection_options
@click.option("--input", "input_topic", metavar="TOPIC", help="Instead of a pipeline: the topic that was read.")
@click.option(
    "--output", "output_topics", multiple=True, metavar="TOPIC", help="A topic that was written; may be repeated."
)
@click.option(
    "--input-key", default=RECORD_KEY, show_default=True, metavar="SQL", help="What identifies an input record."
)
@click.option("--output-key", default=RECORD_KEY, show_default=True, metavar="SQL", help="The same on the outputs.")
@click.option(
    "--identity",
    "identities",
    multiple=True,
    metavar="TOPIC=SQL",
    help="With a pipeline: what identifies a record of this output, where key and value do not (random ids).",
)
@click.option("--ignore", multiple=True, metavar="TOPIC", help="With a pipeline: an output that is not judged.")
@click.option("--group", "group_id", help="Read the input as far as this group has come; a pipeline has its own.")
@click.option("--namespace", default="default", show_default=True, help="The pipeline's, as for `fencepost run`.")
@click.option("--master", default=DEFAULT_MASTER, show_default=True, metavar="URL", help="Spark's master.")
@json_option
def command(
    target: str | None,
    connection: Connection,
    input_topic: str | None,
    output_topics: tuple[str, ...],
    input_key: str,
    output_key: str,
    identities: tuple[str, ...],
    ignore: tuple[str, ...],
    group_id: str | None,
    namespace: str,
    master: str,
    as_json: bool,
) -> None:
    """Prove that outputs are the function of the input, exactly once; or list the records that break it.

    The rule is a stateless pipeline itself, or --input and --output topics of which every record is found on the
    other side by a key. Exit code 0: proved. 1: not so, and the records are listed with their offsets.

    \b
    Examples:
      fencepost audit squares.py -b 127.0.0.1:9092
      fencepost audit shop.py --identity "shipments=cast(key as string)"
      fencepost audit --input purchases --output invoices --output shipments
    """
    require_spark()
    given = Given(
        pipeline=None if target is None else only(load_pipelines(target)),
        folder=Path.cwd() if target is None else split_target(target)[0].parent,
        input_topic=input_topic,
        outputs=output_topics,
        input_key=input_key,
        output_key=output_key,
        identities=dict(split_identity(one) for one in identities),
        ignored=ignore,
        group_id=group_id,
        namespace=namespace,
    )
    given.check()
    verdict = judge(given, connection, master=master)
    show(verdict, as_json=as_json)
    sys.exit(DONE if verdict.is_exactly_once else FAILED)


@dataclass(frozen=True)
class Given:
    """What the command line asks for."""

    pipeline: Pipeline | None
    folder: Path
    input_topic: str | None
    outputs: tuple[str, ...]
    input_key: str
    output_key: str
    identities: dict[str, str]
    ignored: tuple[str, ...]
    group_id: str | None
    namespace: str

    def check(self) -> None:
        is_by_key = self.input_topic is not None or bool(self.outputs)
        if is_by_key == (self.pipeline is not None):
            raise click.UsageError("give either FILE.py[:NAME], or --input and --output")
        if is_by_key and not (self.input_topic and self.outputs):
            raise click.UsageError("--input and --output belong together")

    @property
    def reads(self) -> tuple[str, ...]:
        return self.pipeline.reads if self.pipeline is not None else (self.input_topic or "",)

    @property
    def group(self) -> str | None:
        if self.group_id is not None or self.pipeline is None:
            return self.group_id
        return f"fencepost.{self.namespace}.{self.pipeline.name}"


def judge(given: Given, connection: Connection, *, master: str) -> Verdict:
    # The pipeline's own settings of Spark: the same function has to give the same rows.
    settings = session_options({}, [given.pipeline] if given.pipeline is not None else [])
    starter = SessionStarter(master=master, app_name="fencepost audit", settings=settings, folder=given.folder)
    starter.begin()
    options = {"kafka.bootstrap.servers": connection.bootstrap_servers}
    options |= sort_options({f"kafka.{name}": value for name, value in connection.settings.items()}).source
    spark = None
    try:
        with connection.admin() as admin:
            ends = committed_ends(admin, given.reads, given.group) if given.group else None
        spark = starter()
        inputs = [read_topic(spark, options, topic, ends) for topic in given.reads]
        rule = rule_of(given, inputs, spark)
        return audit(rule, read_outputs(spark, options, rule.outputs, rule), rule.outputs)
    finally:
        end_session(spark)


def rule_of(given: Given, inputs: list["DataFrame"], spark: "SparkSession") -> KeyRule | PipelineRule:
    if given.pipeline is None:
        return KeyRule(inputs[0], given.outputs, given.input_key, given.output_key)
    check_can_judge(given.pipeline, is_stateful=shape_of(spark, given.pipeline).is_stateful)
    return PipelineRule(given.pipeline, inputs, given.identities, given.ignored)


def only(pipelines: list[Pipeline]) -> Pipeline:
    if len(pipelines) != 1:
        names = ", ".join(one.name for one in pipelines)
        raise click.UsageError(f"this file has several pipelines; name one of them as FILE.py:NAME: {names}")
    return pipelines[0]


def split_identity(text: str) -> tuple[str, str]:
    topic, separator, sql = text.partition("=")
    if not separator or not sql.strip():
        raise click.UsageError(f"--identity {text}: expected TOPIC=SQL")
    return topic.strip(), sql.strip()


def show(verdict: Verdict, *, as_json: bool) -> None:
    if as_json:
        print_json(verdict.to_json())
        return
    written = ", ".join(f"{topic} {count:,}" for topic, count in verdict.output_counts.items())
    click.echo(f"{verdict.input_count:,} input records; written: {written}")
    if verdict.is_exactly_once:
        click.echo("exactly once: nothing lost, torn, duplicated, unexpected or reordered")
        return
    click.echo("not exactly once: " + ", ".join(f"{count:,} {kind}" for kind, count in verdict.counts.items() if count))
    for finding in verdict.findings:
        click.echo(f"  {finding}")
    if sum(verdict.counts.values()) > len(verdict.findings):
        click.echo(f"  ... at most {SHOWN_MAX} of each kind are listed")
