"""Checkpoints and ledgers that an earlier version left behind: the pipelines go on exactly where they stopped.

`scripts/make_golden_pipeline.py` wrote them. The drivers died between the sink's commit and Spark's, and ten more
transfers have come since.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.server.embedded import EmbeddedBroker
from tests.spark.pipelines.test_run import check_chain
from tests.spark.pipelines.use import Drained, example, lag, read

pytestmark = pytest.mark.timeout(3600)
V1 = Path(__file__).parents[2] / "golden" / "v1" / "pipeline"
FOLDER_BYTES_MAX = 200_000


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[str]:
    shutil.copytree(V1, tmp_path, dirs_exist_ok=True)
    with EmbeddedBroker(data=tmp_path / "data") as broker:
        yield broker.bootstrap_servers


def test_pipelines_of_format_1_go_on_where_they_stopped_and_nothing_is_lost_or_repeated(spark, servers, tmp_path):
    assert len(read(servers, "balance-update")) == 80
    assert lag(servers, "transfer", "fencepost.default.transfer") == 10
    stages = {stage.name: stage for stage in example("chain")}
    for name in ("transfer", "balances", "overdrawn"):
        events = Drained(spark, stages[name], servers, tmp_path / "checkpoint").events
        assert [event.is_skipped for event in events] == [True, False], "the ledger has the last micro-batch"
    check_chain(servers, 50)


def test_the_golden_folders_stay_small_and_name_no_place_of_the_machine_that_made_them() -> None:
    files = [path for path in V1.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < FOLDER_BYTES_MAX
    assert not [path for path in files if any(place in path.read_bytes() for place in (b"file:/", b"/tmp/"))]
