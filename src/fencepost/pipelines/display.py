"""The live display of a run: the graph of the stages, and under it a row per pipeline."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from fencepost.pipelines.graph import Graph
from fencepost.pipelines.progress import DONE, FAILED, RUNNING, STARTING, WAITING, StageProgress, now_ms

STYLES = {RUNNING: "green", DONE: "green", STARTING: "yellow", WAITING: "yellow", FAILED: "bold red"}
EVENTS_SHOWN = 4


class LiveDisplay:
    def __init__(self, graph: Graph, console: Console | None = None) -> None:
        self._graph = graph
        self._stages: Sequence[StageProgress] = ()
        self._events: list[str] = []
        self._live = Live(console=console or Console(), get_renderable=self.render, refresh_per_second=4)
        self._live.start()

    def event(self, what: str, **details: Any) -> None:
        words = ", ".join(f"{name} {value}" for name, value in details.items())
        moment = datetime.now(tz=UTC).strftime("%H:%M:%S")
        self._events = [*self._events, f"{moment} {what} {words}"][-EVENTS_SHOWN:]

    def progress(self, stages: Sequence[StageProgress]) -> None:
        self._stages = stages

    def close(self) -> None:
        self._live.stop()

    def render(self) -> RenderableType:
        drawing = Text("\n".join(self._graph.draw()), no_wrap=True)
        parts: list[RenderableType] = [Panel(drawing, title="stages", title_align="left"), table_of(self._stages)]
        parts += [Text(line, style="dim", overflow="fold") for line in self._events]
        return Group(*parts)


def table_of(stages: Sequence[StageProgress]) -> Table:
    table = Table(expand=True)
    for name in ("pipeline", "state", "rows in", "rows out", "transactions", "lag", "last commit", "retries"):
        table.add_column(name, justify="left" if name in ("pipeline", "state") else "right", no_wrap=True)
    for stage in stages:
        table.add_row(
            stage.pipeline,
            Text(stage.state, style=STYLES.get(stage.state, "")),
            f"{stage.rows_in:,}",
            f"{stage.rows_out:,}",
            f"{stage.transactions:,}",
            "?" if stage.lag is None else f"{stage.lag:,}",
            ago(stage.last_commit_ms, now_ms()),
            str(stage.retries) if not stage.restarts else f"{stage.retries} (+{stage.restarts} restarts)",
        )
        if stage.problem:
            table.add_row("", Text(stage.problem, style="red", overflow="fold"))
    return table


def ago(then_ms: int | None, now: int) -> str:
    if then_ms is None:
        return "never"
    seconds = max(0, now - then_ms) / 1000
    return f"{seconds:.1f} s ago" if seconds < 60 else f"{seconds / 60:.0f} min ago"
