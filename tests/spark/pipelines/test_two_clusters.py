"""`fencepost run` from one cluster to another: exactly once through a kill, the source's offsets in the ledger only.

Both are brokers in processes of their own.
"""

import json
import signal

import pytest

from fencepost.client import Admin
from fencepost.spark.sink.fail_points import FAIL_AT, FAIL_LOG
from tests.kill.killed_broker import KilledBroker
from tests.spark.pipelines.running import Run
from tests.spark.pipelines.use import as_bytes, create, read, write

pytestmark = pytest.mark.timeout(3600)
GROUP = "fencepost.default.transfer"
INTERNAL = {"__consumer_offsets", "__transaction_state"}


def transfers(start, end):
    return [
        (None, as_bytes({"number": f"{n}", "payer": "alice", "payee": "bob", "amount": n})) for n in range(start, end)
    ]


def numbers(servers):
    return sorted(int(json.loads(value)["transfer"]) for _, value in read(servers, "balance-update"))


@pytest.mark.deep
@pytest.mark.parametrize("point", ["after-commit"])
def test_a_driver_killed_between_two_clusters_repeats_and_loses_nothing(tmp_path, monkeypatch, point):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with (
        KilledBroker(tmp_path / "a" / "data", seed=0, settings={}) as source,
        KilledBroker(tmp_path / "b" / "data", seed=0, settings={}) as sink,
    ):
        create(source.bootstrap_servers, "transfer")
        write(source.bootstrap_servers, "transfer", transfers(0, 40))
        options = ("--set", f"source.kafka.bootstrap.servers={source.bootstrap_servers}", "--once")
        log = tmp_path / "reached"
        with monkeypatch.context() as armed:
            # The first micro-batch is empty: it pins where the source starts.
            armed.setenv(FAIL_AT, f"{point}=kill#2")
            armed.setenv(FAIL_LOG, str(log))
            with Run("transfer.py", sink.bootstrap_servers, tmp_path, *options) as run:
                assert run.wait_for_end() == -signal.SIGKILL, run.story()
        assert log.read_text().startswith(f"{point} kill ")
        has_committed = point == "after-commit"
        assert len(numbers(sink.bootstrap_servers)) == (80 if has_committed else 0)

        write(source.bootstrap_servers, "transfer", transfers(40, 50))
        with Run("transfer.py", sink.bootstrap_servers, tmp_path, *options) as run:
            assert run.wait_for_end() == 0, run.story()
        assert numbers(sink.bootstrap_servers) == sorted([*range(50), *range(50)])
        assert run.newest("transfer")["lag"] == 0
        for servers in (source.bootstrap_servers, sink.bootstrap_servers):
            with Admin(servers) as admin:
                assert admin.group_offsets(GROUP) == {}, "offsets of one cluster mean nothing on another"
        with Admin(source.bootstrap_servers) as admin:
            assert set(admin.describe_topics()) - INTERNAL == {"transfer"}, "nothing is written where it reads"
        tokens = [json.loads(value) for _, value in read(sink.bootstrap_servers, "__fencepost_ledger.default.transfer")]
        ends = max(tokens, key=lambda token: token["batch_id"])["end"][0]["topics"]["transfer"]["partitions"]
        assert sum(ends.values()) == 50
