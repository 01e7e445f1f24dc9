"""The session of a run, begun early: the JVM starts on a thread of its own while modules are loaded and the broker is
asked for its topics.

It is never started on the main thread: pyspark would put its own handler for SIGINT in place of the run's. And it is
the main thread that loads modules: of two threads that load `pyspark` and `pyspark.sql`, which import each other, one
may get the other's half made (Python prefers that to a deadlock).
"""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.pipelines.loading import pickle_by_value
from fencepost.pipelines.session import start_session
from fencepost.pipelines.warm_up import in_background, load_driver_modules, warm_workers
from fencepost.spark.master import is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SessionStarter:
    """`begin` starts a session and returns at once; calling the object gives that session, or starts another one."""

    def __init__(self, *, master: str, app_name: str, settings: Mapping[str, str], folder: Path) -> None:
        self._master = master
        self._app_name = app_name
        self._settings = settings
        self._folder = folder
        self._begun: Future[SparkSession] | None = None

    def begin(self) -> None:
        import pyspark.sql  # noqa: F401 - whole, before there is a second thread

        self._begun = on_own_thread(self._start)
        load_driver_modules()

    def __call__(self) -> "SparkSession":
        from fencepost.spark import register

        begun, self._begun = self._begun, None
        spark = (begun or on_own_thread(self._start)).result()
        register(spark)
        pickle_by_value(self._folder)
        if is_local(self._master):
            in_background(warm_workers, spark)
        return spark

    def _start(self) -> "SparkSession":
        return start_session(master=self._master, app_name=self._app_name, settings=self._settings)


def on_own_thread(work: Callable[[], "SparkSession"]) -> "Future[SparkSession]":
    """A thread that nobody waits for at exit: a run that is refused ends at once, and a half started JVM with it."""
    future: Future[SparkSession] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as problem:  # noqa: BLE001 - told to whoever asks for the result
            future.set_exception(problem)

    threading.Thread(target=run, name="spark-session", daemon=True).start()
    return future
