"""`fencepost audit`: proves exactly-once between input and output topics, or names the offending offsets."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fencepost.cli.failures import DONE, FAILED, require_spark
from fencepost.cli.options import ClusterAccess, connection_options
from fencepost.cli.output import json_option, print_json
from fencepost.pipelines.jvm import end_session
from fencepost.pipelines.loading import SessionStarter, load_pipelines, split_target
from fencepost.pipelines.run_options import session_options, sort_options
from fencepost.pipelines.session import DEFAULT_MASTER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fencepost.pipelines.audit import Rule, Verdict

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
    connection: ClusterAccess,
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
    from fencepost.pipelines.audit import key_rule, pipeline_rule

    pipelines = [] if target is None else load_pipelines(target)
    if len(pipelines) > 1:
        names = ", ".join(one.name for one in pipelines)
        raise click.UsageError(f"this file has several pipelines; name one of them as FILE.py:NAME: {names}")
    sql_of = dict(split_identity(one) for one in identities)
    if (input_topic is not None or bool(output_topics)) == bool(pipelines):
        raise click.UsageError("give either FILE.py[:NAME], or --input and --output")
    if not pipelines and not (input_topic and output_topics):
        raise click.UsageError("--input and --output belong together")
    if pipelines and group_id is None:
        group_id = f"fencepost.{namespace}.{pipelines[0].name}"

    def rule_over(inputs: "list[DataFrame]") -> "Rule":
        if pipelines:
            return pipeline_rule(pipelines[0], inputs, sql_of, ignore)
        return key_rule(inputs[0], output_topics, input_key, output_key)

    starter = SessionStarter(
        master=master,
        app_name="fencepost audit",
        # The pipeline's own settings of Spark: the same function has to give the same rows.
        settings=session_options({}, pipelines),
        folder=Path.cwd() if target is None else split_target(target)[0].parent,
    )
    reads = pipelines[0].reads if pipelines else (input_topic or "",)
    verdict = judge(starter, connection, reads, group_id, rule_over)
    show(verdict, as_json=as_json)
    sys.exit(DONE if verdict.is_exactly_once else FAILED)


def judge(
    starter: SessionStarter,
    connection: ClusterAccess,
    reads: Sequence[str],
    group_id: str | None,
    rule_over: "Callable[[list[DataFrame]], Rule]",
) -> "Verdict":
    from fencepost.pipelines.audit import audit, committed_ends, read_topic

    starter.begin()
    options = {"kafka.bootstrap.servers": connection.bootstrap_servers}
    options |= sort_options({f"kafka.{name}": value for name, value in connection.settings.items()}).source
    spark = None
    try:
        with connection.admin() as admin:
            ends = committed_ends(admin, reads, group_id) if group_id else None
        spark = starter()
        rule = rule_over([read_topic(spark, options, topic, ends) for topic in reads])
        return audit(rule, {topic: read_topic(spark, options, topic) for topic in rule.outputs})
    finally:
        end_session(spark)


def split_identity(text: str) -> tuple[str, str]:
    topic, separator, sql = text.partition("=")
    if not separator or not sql.strip():
        raise click.UsageError(f"--identity {text}: expected TOPIC=SQL")
    return topic.strip(), sql.strip()


def show(verdict: "Verdict", *, as_json: bool) -> None:
    from fencepost.pipelines.audit import SHOWN_MAX

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
