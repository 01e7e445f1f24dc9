"""The demonstration's plot: start everything, kill the drivers in mid-batch, kill the broker, drain, judge.

Two shops read the same purchases: ours, one transaction per micro-batch, and an ordinary one, at least once. Both
drivers are held at the worst place, where a micro-batch is written and not yet noted as done, and killed there.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from fencepost.client import Admin, read_arrow
from fencepost.lab.apache_kafka import free_ports
from fencepost.lab.demo import purchases
from fencepost.lab.demo.processes import Actor, Clock, DemoProcessError
from fencepost.lab.demo.purchases import Judgement, judge
from fencepost.lab.demo.timeline import Curve, Timeline, Watcher, transactions_lane
from fencepost.spark.sink.fail_points import FAIL_AT, FAIL_LOG

OURS, ORDINARY = "Fencepost, exactly once", "ordinary, at least once"
PREFIX = "ordinary."
INVOICES, SHIPMENTS = "invoices", "shipments"
OUTPUTS = (INVOICES, SHIPMENTS, "purchases.dead-letters")
PIPELINE = Path(__file__).with_name("shop.py")
HOLD_S = 3600
PATIENCE_S = 300.0
POLL_S = 0.1


@dataclass(frozen=True)
class Plot:
    """What may be chosen: a fail-point of the sink, and which time it is passed the driver is held and killed there."""

    per_second: int = 1_000
    partitions: int = 2
    kill_at: str = "published"
    kill_in_batch: int = 2
    calm_s: float = 4.0
    """How long things go well between two faults."""


@dataclass(frozen=True)
class Ending:
    judgements: dict[str, Judgement]
    timeline: Timeline


class Story:
    """`say` is given each sentence, `show` a line about where things stand, several times a second."""

    def __init__(self, folder: Path, plot: Plot, *, say: Callable[[str], None], show: Callable[[str], None]) -> None:
        self._folder = folder
        self._plot = plot
        self._say_aloud = say
        self._show = show
        self._clock = Clock()
        self._words: list[tuple[float, str]] = []
        self._sold = Curve("purchases")
        self.bootstrap_servers = f"127.0.0.1:{free_ports(1)[0]}"
        self._stream = purchases.PurchaseStream(
            self.bootstrap_servers, per_second=plot.per_second, on_sent=self._on_sent
        )
        self._seen = {
            OURS: self._watcher(INVOICES, "invoices, exactly once"),
            ORDINARY: self._watcher(PREFIX + INVOICES, "invoices, ordinary"),
        }
        self._fail_log, self._paused_file = folder / "fail-points.txt", folder / "ordinary-paused"
        self._broker = self._actor("broker", "fencepost", "serve", "--listen", self.bootstrap_servers)
        self._ours = self._actor("driver, exactly once", "fencepost", "run", str(PIPELINE), "--json")
        self._ordinary = self._actor("driver, ordinary", "fencepost.lab.demo.ordinary")

    def tell(self) -> Ending:
        with ExitStack() as stack:
            for actor in (self._broker, self._ours, self._ordinary):
                stack.enter_context(actor)
            self._open_shop()
            self._kill_drivers()
            self._kill_broker()
            self._close_shop()
            return self._judge()

    # The acts

    def _open_shop(self) -> None:
        self._start_broker()
        self._say(f"A broker has started on {self.bootstrap_servers}, with an empty data folder.")
        with Admin(self.bootstrap_servers) as admin:
            for topic in (purchases.TOPIC, *OUTPUTS, *(PREFIX + output for output in OUTPUTS)):
                admin.create_topic(topic, self._plot.partitions, 1)
        self._stream.start()
        for watcher in self._seen.values():
            watcher.start()
        self._say(f"Customers buy: {self._plot.per_second:,} purchases a second.")
        self._start_ours(held=True)
        self._start_ordinary(held=True)
        self._say(
            "Two shops on Spark read the purchases and write an invoice and a shipment for each: ours, one Kafka "
            "transaction per micro-batch, and an ordinary one, with a plain producer in foreachBatch."
        )

    def _kill_drivers(self) -> None:
        """Each when it is held: everything of a micro-batch is written, nothing is noted as done."""
        held = {self._ours: self._fail_log, self._ordinary: self._paused_file}
        deadline_s = self._clock.now_s + PATIENCE_S
        while held:
            self._look(deadline_s, "both shops to be in the middle of a micro-batch")
            for actor in [actor for actor, sign in held.items() if sign.exists()]:
                del held[actor]
                if actor is self._ours:
                    self._say(
                        f"Our driver is in mid-transaction: {self._hidden():,} records of it lie in the topics, and no "
                        "read_committed reader sees one of them. kill -9, driver and Spark's JVM."
                    )
                else:
                    self._say("The ordinary driver has written a micro-batch that Spark has not noted yet. kill -9.")
                actor.kill()
        seen = {name: watcher.seen for name, watcher in self._seen.items()}
        self._start_ours(held=False)
        self._start_ordinary(held=False)
        self._say(
            "Both start again. Ours fences its former self, aborts what that left open, reads in its ledger which "
            "micro-batch came last, and publishes the next. The ordinary one writes its last micro-batch once more."
        )
        deadline_s = self._clock.now_s + PATIENCE_S
        while any(watcher.seen <= seen[name] for name, watcher in self._seen.items()):
            self._look(deadline_s, "both shops to go on")

    def _kill_broker(self) -> None:
        self._be_calm()
        self._say("Now the broker: kill -9, in the middle of everything. Every client waits and tries again.")
        self._broker.kill()
        self._be_calm(1.0)
        self._start_broker()
        self._say("The broker is back, with everything that it ever acknowledged.")
        self._be_calm()

    def _close_shop(self) -> None:
        sold = self._stream.stop()
        self._say(f"The shop closes after {sold:,} purchases; what is under way is finished.")
        deadline_s = self._clock.now_s + PATIENCE_S
        while any(judgement.lost for judgement in self._judgements().values()):
            self._look(deadline_s, "every purchase to arrive")
        self._ours.stop()
        self._ordinary.stop()
        for watcher in self._seen.values():
            watcher.stop()

    def _judge(self) -> Ending:
        judgements = self._judgements()
        ours = judgements[OURS]
        self._say(
            "Ours is exactly once: nothing lost, nothing twice, nothing torn."
            if ours.is_exactly_once
            else f"OURS IS WRONG: {ours}"
        )
        transactions = transactions_lane(
            self.bootstrap_servers, [INVOICES, SHIPMENTS], started_ms=self._clock.started_ms
        )
        self._broker.stop()
        return Ending(
            judgements,
            Timeline(
                lanes=[self._broker.lane, self._ours.lane, transactions, self._ordinary.lane],
                curves=[self._sold, *(watcher.curve for watcher in self._seen.values())],
                words=self._words,
            ),
        )

    # What they are made of

    def _start_broker(self) -> None:
        self._broker.start("--data", str(self._folder / "broker"))
        self._broker.wait_for_line("listening on", timeout_s=PATIENCE_S)

    def _start_ours(self, *, held: bool) -> None:
        arguments = ["--bootstrap-servers", self.bootstrap_servers, "--checkpoint", str(self._folder / "checkpoint")]
        hold = f"{self._plot.kill_at}=stop:{HOLD_S}#{self._plot.kill_in_batch}"
        environment = {FAIL_AT: hold, FAIL_LOG: str(self._fail_log)} if held else {}
        self._ours.start(*arguments, "--set", "trigger=1 second", environment=environment)

    def _start_ordinary(self, *, held: bool) -> None:
        arguments = ["--bootstrap-servers", self.bootstrap_servers, "--checkpoint", str(self._folder / "ordinary")]
        hold = ["--pause-in-batch", str(self._plot.kill_in_batch)] if held else []
        self._ordinary.start(*arguments, "--prefix", PREFIX, "--paused-file", str(self._paused_file), *hold)

    def _hidden(self) -> int:
        """Records of the open transaction: written, and not visible."""
        return self._count("read_uncommitted") - self._count("read_committed")

    def _count(self, isolation_level: str) -> int:
        tables = (
            read_arrow(self.bootstrap_servers, topic, isolation_level=isolation_level)
            for topic in (INVOICES, SHIPMENTS)
        )
        return sum(int(table.num_rows) for table in tables)

    def _judgements(self) -> dict[str, Judgement]:
        return {
            name: judge(self.bootstrap_servers, invoices=prefix + INVOICES, shipments=prefix + SHIPMENTS)
            for name, prefix in ((OURS, ""), (ORDINARY, PREFIX))
        }

    def _be_calm(self, seconds: float | None = None) -> None:
        until_s = self._clock.now_s + (self._plot.calm_s if seconds is None else seconds)
        while self._clock.now_s < until_s:
            self._look()

    def _look(self, deadline_s: float | None = None, waiting_for: str = "") -> None:
        """A moment of waiting, in which every process that should run is found running."""
        if deadline_s is not None and self._clock.now_s > deadline_s:
            raise DemoProcessError(f"waited {PATIENCE_S:.0f} s for {waiting_for}; the logs are in {self._folder}")
        for actor in (self._broker, self._ours, self._ordinary):
            actor.check()
        ours, ordinary = (watcher.seen for watcher in self._seen.values())
        self._show(
            f"{self._clock.now_s:.0f} s: {self._stream.sent:,} purchases; invoices visible: "
            f"{ours:,} ours, {ordinary:,} ordinary"
        )
        time.sleep(POLL_S)

    def _say(self, text: str) -> None:
        self._words.append((self._clock.now_s, text))
        self._say_aloud(text)

    def _on_sent(self, count: int) -> None:
        self._sold.points.append((self._clock.now_s, count))

    def _watcher(self, topic: str, name: str) -> Watcher:
        return Watcher(self.bootstrap_servers, topic, name=name, started_s=self._clock.started_s)

    def _actor(self, name: str, *command: str) -> Actor:
        log_file = self._folder / f"{name.replace(', ', '-').replace(' ', '-')}.log"
        return Actor(name, command, log_file=log_file, clock=self._clock)
