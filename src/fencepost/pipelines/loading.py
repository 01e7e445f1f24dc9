"""From FILE.py[:NAME] to pipelines: the file is run once, and every pipeline among its global names is taken, in
their order.

The file's folder is importable while it runs, so that pipelines may share modules that lie beside them. Those modules
and the file itself are pickled by value, so that their functions reach executors that do not have them.
"""

import importlib.util
import sys
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType

from fencepost.pipelines.pipeline import InvalidPipeline, Pipeline, listed


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
    """Let functions of the modules in `folder` travel to executors as code: nobody has to install them there."""
    from pyspark import cloudpickle

    for module in list(sys.modules.values()):
        source = getattr(module, "__file__", None)
        if source and Path(source).parent == folder:
            cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
