"""From FILE.py[:NAME] to pipelines, and to a session that can run them.

The file is run once, and every pipeline among its global names is taken, in their order.

The file's folder is importable while it runs, so that pipelines may share modules that lie beside them. Those modules
and the file itself are pickled by value, so that their functions reach executors that do not have them.
"""

import importlib.util
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline, listed
from fencepost.pipelines.session import start_session
from fencepost.pipelines.worker_daemon import start_workers
from fencepost.spark.options import is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def load_pipelines(target: str) -> list[Pipeline]:
    """The pipelines of `FILE.py`, or the one that `FILE.py:NAME` names."""
    path, name = split_target(target)
    found = pipelines_of(run_file(path))
    if not found:
        raise InvalidPipeline(f"{path}: no pipeline here; make one with @pipeline(name=..., reads=..., writes=...)")
    check_names_differ(found, path)
    if name is None:
        return found
    for one in found:
        if one.name == name:
            return [one]
    close = get_close_matches(name, [one.name for one in found], n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    raise InvalidPipeline(f"{path}: no pipeline '{name}', only {listed(one.name for one in found)}{hint}")


def split_target(target: str) -> tuple[Path, str | None]:
    file_name, separator, name = target.rpartition(":")
    if not separator or not file_name.endswith(".py"):
        file_name, name = target, ""
    path = Path(file_name)
    if not path.is_file():
        raise InvalidPipeline(f"{path}: no such file; expected FILE.py or FILE.py:NAME")
    return path.resolve(), name or None


def run_file(path: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location(f"pipelines_{path.stem}", path)
    if specification is None or specification.loader is None:
        raise InvalidPipeline(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(specification)
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.modules[module.__name__] = module
    specification.loader.exec_module(module)
    return module


def pipelines_of(module: ModuleType) -> list[Pipeline]:
    """In the order of the global names; one that bears two names is taken once."""
    values = [value for value in vars(module).values() if isinstance(value, Pipeline)]
    return list({id(value): value for value in values}.values())


def check_names_differ(found: list[Pipeline], path: Path) -> None:
    names = [one.name for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidPipeline(
            f"{path}: two pipelines are named {listed(twice)}; the name is the transactional id, and they would fence "
            "each other"
        )


def pickle_by_value(folder: Path) -> None:
    """Let functions of the modules in `folder` travel to executors as code: they need not be installed there."""
    from pyspark import cloudpickle

    for module in list(sys.modules.values()):
        source = getattr(module, "__file__", None)
        if source and Path(source).parent == folder:
            cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


class SessionStarter:
    """`begin` starts a session and returns at once; calling the object gives that session, or starts another one.

    The JVM starts on a thread of its own while modules are loaded and the broker is asked for its topics. It is never
    started on the main thread: pyspark would put its own handler for SIGINT in place of the run's. And it is the main
    thread that loads modules: of two threads that load `pyspark` and `pyspark.sql`, which import each other, one may
    get the other's half made (Python prefers that to a deadlock).
    """

    def __init__(self, *, master: str, app_name: str, settings: Mapping[str, str], folder: Path) -> None:
        self._master = master
        self._app_name = app_name
        self._settings = settings
        self._folder = folder
        self._begun: Future[SparkSession] | None = None

    def begin(self) -> None:
        import pyspark.sql  # noqa: F401 - whole, before there is a second thread

        self._begun = on_own_thread(self._start)
        import fencepost.spark.sink.transactional_sink
        import fencepost.spark.source  # noqa: F401 - while the JVM starts

    def __call__(self) -> "SparkSession":
        from fencepost.spark import register

        begun, self._begun = self._begun, None
        spark = (begun or on_own_thread(self._start)).result()
        register(spark)
        pickle_by_value(self._folder)
        if is_local(self._master):
            start_workers(spark)
        return spark

    def _start(self) -> "SparkSession":
        return start_session(master=self._master, app_name=self._app_name, settings=self._settings)


def on_own_thread(work: Callable[[], "SparkSession"]) -> "Future[SparkSession]":
    """A thread that is not waited for at exit: a run that is refused ends at once, and a half started JVM with it."""
    future: Future[SparkSession] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as problem:  # noqa: BLE001 - raised where the result is asked for
            future.set_exception(problem)

    threading.Thread(target=run, name="spark-session", daemon=True).start()
    return future
