"""`fencepost run`: pipelines on Spark, exactly once."""

import signal
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from fencepost.cli.failures import require_spark
from fencepost.cli.options import ClusterAccess, connection_options
from fencepost.client.admin.admin import Admin
from fencepost.pipelines.graph import CHOICES, OUTPUTS, Graph, ensure_topics, graph_of
from fencepost.pipelines.loading import SessionStarter, load_pipelines, split_target
from fencepost.pipelines.progress import JsonLines, LagWatch, PlainLines, Reporter
from fencepost.pipelines.run_options import RunOptions, check_source, parse_assignments, session_options, sort_options
from fencepost.pipelines.session import DEFAULT_MASTER

if TYPE_CHECKING:
    from fencepost.pipelines.runner import Runner


@click.command("run")
@click.argument("target", metavar="FILE.py[:NAME]")
@connection_options
@click.option(
    "--checkpoint", default="fencepost-checkpoints", show_default=True, metavar="DIR", help="Spark's checkpoints."
)
@click.option(
    "--namespace", default="default", show_default=True, help="Part of transactional ids, ledgers and groups."
)
@click.option("--master", default=DEFAULT_MASTER, show_default=True, metavar="URL", help="Spark's master.")
@click.option("--set", "assignments", multiple=True, metavar="OPTION=VALUE", help="An option of source, sink or Spark.")
@click.option("--once", is_flag=True, help="Read what is there, stage after stage, and end.")
@click.option("--create-topics", type=click.Choice(CHOICES), default=OUTPUTS, show_default=True, help="If missing.")
@click.option(
    "--max-restarts", type=click.IntRange(min=0), help="Failures in a row that are too many; no limit if not set."
)
@click.option("--graph", "graph_only", is_flag=True, help="Draw the stages and end.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line instead of the display.")
def command(
    target: str,
    connection: ClusterAccess,
    checkpoint: str,
    namespace: str,
    master: str,
    assignments: tuple[str, ...],
    once: bool,
    create_topics: str,
    max_restarts: int | None,
    graph_only: bool,
    as_json: bool,
) -> None:
    """Run the pipelines of FILE.py, or the one called NAME, exactly once, until SIGTERM or Ctrl-C.

    Every micro-batch is one transaction: its records on all topics, the source offsets and a token. Whatever is
    killed, a new start goes on where the last committed one ended. Options that --set takes: those of Spark's kafka
    source (startingOffsets, maxOffsetsPerTrigger, ...), the sink's (mode, transaction_timeout_ms, ...), kafka.* and
    spark.*.

    \b
    Examples:
      fencepost run shop.py --bootstrap-servers 127.0.0.1:9092
      fencepost run shop.py --once --json --set maxOffsetsPerTrigger=100000
      fencepost run shop.py --master spark://host:7077 --checkpoint hdfs:///shop
    """
    require_spark()
    path, _ = split_target(target)
    graph = graph_of(load_pipelines(target))
    if graph_only:
        click.echo("\n".join(graph.draw()))
        return
    given = parse_assignments(assignments)
    settings = session_options(given, graph.stages)
    starter = SessionStarter(master=master, app_name=f"fencepost {path.stem}", settings=settings, folder=path.parent)
    # What follows takes its time while the JVM takes its own.
    starter.begin()
    from fencepost.pipelines.runner import Runner
    from fencepost.pipelines.stage import Target

    options = options_of(graph, connection, given)
    source_admin = admin_of_source(connection, options)
    with connection.admin() as admin, source_admin or connection.admin() as lag_admin:
        made = ensure_topics(admin, graph, create=create_topics, source_admin=source_admin)
        reporter = reporter_for(graph, as_json=as_json)
        if made:
            reporter.event("made topics", names=", ".join(made))
        runner = Runner(
            graph,
            target=Target(connection.bootstrap_servers, absolute(checkpoint), namespace),
            options=options,
            start_session=starter,
            lag=LagWatch(lag_admin),
            reporter=reporter,
            max_restarts=max_restarts,
        )
        run_until_signal(runner, reporter, once=once)


def options_of(graph: Graph, connection: ClusterAccess, assignments: dict[str, str]) -> dict[str, RunOptions]:
    """For each pipeline: the command line over the pipeline's own over the connection's settings."""
    clients = sort_options({f"kafka.{name}": value for name, value in connection.settings.items()})
    given = sort_options(assignments)
    options = {stage.name: given.over(sort_options(stage.options)).over(clients) for stage in graph.stages}
    for stage in graph.stages:
        check_source(options[stage.name], topics=stage.reads, bootstrap_servers=connection.bootstrap_servers)
    return options


def admin_of_source(connection: ClusterAccess, options: dict[str, RunOptions]) -> Admin | None:
    """A client of the source's cluster where that is another one."""
    servers = {one.source.get("kafka.bootstrap.servers") for one in options.values()} - {None}
    return ClusterAccess(servers.pop() or "", connection.settings).admin() if servers else None


def reporter_for(graph: Graph, *, as_json: bool) -> Reporter:
    if as_json:
        return JsonLines()
    if not sys.stdout.isatty():
        return PlainLines()
    from fencepost.pipelines.progress import LiveDisplay

    return LiveDisplay(graph)


def absolute(checkpoint: str) -> str:
    """Spark's JVM has its own idea of a relative path; an URL stays as it is."""
    return checkpoint if "://" in checkpoint else str(Path(checkpoint).absolute())


def run_until_signal(runner: "Runner", reporter: Reporter, *, once: bool) -> None:
    def on_signal(number: int, _frame: FrameType | None) -> None:
        # A second signal does not wait for the micro-batch: that is safe too, only not as tidy.
        signal.signal(number, signal.SIG_DFL)
        runner.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    try:
        runner.run(once=once)
    finally:
        reporter.close()
