"""The sink's page names every fail-point and every argument."""

import inspect
from pathlib import Path

from fencepost.spark import TransactionalSink
from fencepost.spark.sink.fail_points import FAIL_POINTS

PAGE = (Path(__file__).parents[3] / "docs" / "spark-sink.md").read_text()


def test_every_fail_point_is_on_the_page_with_its_step() -> None:
    missing = [name for name, step in FAIL_POINTS.items() if f"| `{name}` | {step} |" not in PAGE]
    assert not missing


def test_every_argument_is_on_the_page() -> None:
    names = [name for name in inspect.signature(TransactionalSink).parameters if name != "client"]
    assert not [name for name in names if f"`{name}`" not in PAGE]
