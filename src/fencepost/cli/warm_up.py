"""`fencepost warm-up`: what every later start would do again, done once."""

import tempfile
from pathlib import Path

import click
from rich.console import Console

from fencepost.cli.failures import INSTALL_SPARK, has_spark
from fencepost.cli.output import print_json


@click.command("warm-up")
@click.option("--again", is_flag=True, help="Also what is there already.")
@click.option("--json", "as_json", is_flag=True, help="Print what there is as JSON, and nothing else.")
def command(again: bool, as_json: bool) -> None:
    """Prepare this machine for quick starts: compile the kernels, and keep Spark's classes as its JVM wants them.

    Spark then starts in about half the time. Takes half a minute, once for each Java and each pyspark; the archive of
    classes takes 170 MB in the user's cache folder.

    \b
    Examples:
      fencepost warm-up
      fencepost warm-up --again
    """
    from fencepost.records.columnar import warm_up

    console = Console(highlight=False, stderr=as_json)
    with console.status("compiling the kernels") as status:
        warm_up()
        status.update("running pipelines on Spark, to see which classes they load")
        archive = warm_spark(again=again) if has_spark() else None
    if as_json:
        print_json({"kernels": True, "archive": archive and str(archive)})
        return
    click.echo("the kernels are compiled")
    click.echo(f"Spark's classes are in {archive}" if archive else INSTALL_SPARK)


def warm_spark(*, again: bool) -> Path:
    from fencepost.pipelines.class_archive import NoArchive, archive_path, make_archive
    from fencepost.pipelines.session import prepare_environment
    from fencepost.server.embedded import EmbeddedBroker

    prepare_environment()
    path = archive_path()
    if path is None:
        raise NoArchive("there is no java, or no Spark, where Spark's launcher looks for them")
    if path.exists() and not again:
        return path
    with tempfile.TemporaryDirectory() as folder, EmbeddedBroker() as broker:
        return make_archive(path, broker.bootstrap_servers, Path(folder))
