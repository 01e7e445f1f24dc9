"""`fencepost demo`: the whole story on this machine, in about two minutes."""

import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click
from rich.console import Console

from fencepost.cli.failures import Failure
from fencepost.cli.output import print_json, print_table

if TYPE_CHECKING:
    from fencepost.lab.demo.purchases import Judgement

REPORT = "fencepost-demo.html"
NEXT_COMMANDS = (
    "fencepost serve --data my-broker",
    "fencepost run examples/pipelines/shop.py",
    "fencepost txn --help",
)


@click.command("demo")
@click.option("--report", default=REPORT, show_default=True, type=click.Path(dir_okay=False), help="Page to write.")
@click.option("--per-second", default=1_000, show_default=True, type=click.IntRange(1, 20_000), help="Purchases.")
@click.option("--keep", type=click.Path(file_okay=False), help="Folder for data, checkpoints and logs; kept.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON, and nothing else.")
def command(report: str, per_second: int, keep: str | None, as_json: bool) -> None:
    """A shop on Spark, killed in mid-transaction, its broker killed too, and what arrived all the same.

    Beside it an ordinary at-least-once pipeline on the same purchases, killed at the same place. Everything runs on
    this machine, on ports that are free, in a temporary folder. Exit code 1 if exactly-once was broken.

    \b
    Examples:
      fencepost demo
      fencepost demo --per-second 5000 --report /tmp/story.html
    """
    require_java()
    from fencepost.lab.demo.report import report_page
    from fencepost.lab.demo.story import OURS, Plot, Story

    console = Console(highlight=False, stderr=as_json)
    end_on_sigterm()
    with folder_for(keep) as folder, console.status("starting") as status:
        # Without a terminal there is no use for a line that is drawn anew ten times a second.
        show = status.update if console.is_terminal else lambda _: None
        ending = Story(folder, Plot(per_second=per_second), say=console.print, show=show).tell()
    Path(report).write_text(report_page(ending.timeline, ending.judgements, NEXT_COMMANDS), encoding="utf-8")
    if as_json:
        print_json({name: vars(judgement) for name, judgement in ending.judgements.items()})
    else:
        tell_verdict(ending.judgements, report)
    if not ending.judgements[OURS].is_exactly_once:
        raise Failure("exactly-once was broken; the logs tell more with --keep FOLDER")


def require_java() -> None:
    from fencepost.pipelines.jvm import NoJava, find_java

    try:
        find_java()
    except NoJava as problem:
        raise Failure(str(problem)) from problem


@contextmanager
def folder_for(keep: str | None) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="fencepost-demo-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)
        return
    folder_path = Path(keep).absolute()
    if folder_path.exists() and any(folder_path.iterdir()):
        raise Failure(f"--keep {keep}: the folder is not empty, and the story begins with an empty broker")
    folder_path.mkdir(parents=True, exist_ok=True)
    yield folder_path


def end_on_sigterm() -> None:
    """As Ctrl-C does: through every `finally`, so that nothing is left running."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def tell_verdict(judgements: "Mapping[str, Judgement]", report: str) -> None:
    columns = ("purchases", "invoices", "shipments", "duplicates", "lost", "torn")
    rows = [{"pipeline": name, **vars(judgement)} for name, judgement in judgements.items()]
    click.echo()
    print_table({name: name for name in ("pipeline", *columns)}, rows)
    click.echo(f"\nThe story with pictures: {report}\nNext:")
    for line in NEXT_COMMANDS:
        click.echo(f"  {line}")
