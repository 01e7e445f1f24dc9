"""The same pipelines on a Spark cluster of real processes: a master and two workers."""

import pytest

from tests.spark.pipelines.running import Run, assert_gone
from tests.spark.pipelines.test_kills import check, value_of
from tests.spark.pipelines.use import create, write
from tests.spark.standalone import StandaloneCluster

pytestmark = [pytest.mark.timeout(3600), pytest.mark.deep]
ON_LOOPBACK = ("--set", "spark.driver.host=127.0.0.1", "--set", "spark.driver.bindAddress=127.0.0.1")


@pytest.mark.parametrize("mode", ["driver", "executors"])
def test_the_shop_runs_on_two_workers_also_after_one_executor_and_the_driver_were_killed(servers, tmp_path, mode):
    create(servers, "purchases")
    rows = [(b"%d" % number, value_of(number)) for number in range(400)]
    write(servers, "purchases", rows[:100])
    with StandaloneCluster(tmp_path / "cluster") as cluster:
        options = ("--master", cluster.master, "--set", f"mode={mode}", *ON_LOOPBACK)
        with Run("shop.py", servers, tmp_path, *options) as run:
            run.wait_for_progress(rows_out=198)
            cluster.kill_executor()
            write(servers, "purchases", rows[100:200])
            run.wait_for_progress(rows_out=396)
            write(servers, "purchases", rows[200:300])
            family = run.family()
            run.kill()
        assert_gone(family)
        write(servers, "purchases", rows[300:])
        with Run("shop.py", servers, tmp_path, *options, "--once") as run:
            assert run.wait_for_end() == 0, run.story()
    check(servers, len(rows))
