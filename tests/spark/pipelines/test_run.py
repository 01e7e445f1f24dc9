"""`fencepost run` as a user starts it: a chain of stages, a clean stop, take-over, refusals."""

import json
import signal
import subprocess
import sys
import time

import pytest

from fencepost.pipelines.loading import SessionStarter
from tests.cli.running import run_command
from tests.spark.pipelines.running import WAIT_S, Run, assert_gone, until
from tests.spark.pipelines.use import EXAMPLES, as_bytes, create, lag, read, write

pytestmark = pytest.mark.timeout(3600)
SHOP = str(EXAMPLES / "shop.py")


@pytest.fixture
def without_spark(monkeypatch):
    """No session is begun; the list has an entry for each that would have been."""
    begun = []
    monkeypatch.setattr(SessionStarter, "begin", lambda starter: begun.append(starter))
    return begun


def transfers(start, end):
    return [
        (None, as_bytes({"number": f"{n}", "payer": f"a{n % 5}", "payee": f"a{(n + 1) % 5}", "amount": n}))
        for n in range(start, end)
    ]


def check_chain(servers, count):
    updates = [json.loads(value) for _, value in read(servers, "balance-update")]
    assert sorted((int(update["transfer"]), update["kind"]) for update in updates) == [
        (n, kind) for n in range(count) for kind in ("credit", "debit")
    ]
    expected = {}
    for n in range(count):
        expected[f"a{n % 5}"] = expected.get(f"a{n % 5}", 0) - n
        expected[f"a{(n + 1) % 5}"] = expected.get(f"a{(n + 1) % 5}", 0) + n
    newest = {json.loads(value)["account"]: json.loads(value)["balance"] for _, value in read(servers, "balances")}
    assert newest == expected
    for topic, pipeline in [("transfer", "transfer"), ("balance-update", "balances"), ("balances", "overdrawn")]:
        assert lag(servers, topic, f"fencepost.default.{pipeline}") == 0


def test_a_chain_of_three_runs_until_sigterm_leaves_nothing_behind_and_goes_on_where_it_was(servers, tmp_path):
    create(servers, "transfer")
    write(servers, "transfer", transfers(0, 50))
    with Run("chain.py", servers, tmp_path) as run:
        run.wait_for(
            "the last stage's commit",
            lambda event: event.get("pipeline") == "overdrawn" and event.get("rows_in", 0) > 0,
        )
        write(servers, "transfer", transfers(50, 80))
        run.wait_for(
            "all transfers", lambda event: event.get("pipeline") == "transfer" and event.get("rows_in", 0) >= 80
        )
        family = run.family()
        assert len(family) > 2, "there is a JVM, and there are Python workers"
        assert run.terminate() == 0
    assert_gone(family)
    assert {event["pipeline"] for event in run.events if event["event"] == "stopped"} == {
        "transfer",
        "balances",
        "overdrawn",
    }
    assert [event["micro_batch"] for event in run.events if event["event"] == "stopped"] == ["whole"] * 3

    write(servers, "transfer", transfers(80, 90))
    with Run("chain.py", servers, tmp_path, "--once") as run:
        assert run.wait_for_end() == 0, run.story()
    check_chain(servers, 90)
    assert run.newest("transfer")["rows_in"] == 10
    assert {run.newest(name)["state"] for name in ("transfer", "balances", "overdrawn")} == {"done"}
    assert {run.newest(name)["lag"] for name in ("transfer", "balances", "overdrawn")} == {0}


def test_of_two_drivers_of_one_pipeline_one_is_fenced_and_says_so_and_the_other_goes_on(servers, tmp_path):
    """Both have the checkpoint: the second is what a cluster manager starts when it believes the first one dead."""
    create(servers, "transfer")
    write(servers, "transfer", transfers(0, 20))
    count = 20
    with Run("transfer.py", servers, tmp_path) as first:
        first.wait_for_progress(rows_out=40)
        with Run("transfer.py", servers, tmp_path) as second:
            second.wait_for("the second is up", lambda event: event["event"] == "started")
            deadline_s = time.monotonic() + WAIT_S
            while first.process.poll() is None and second.process.poll() is None:
                assert time.monotonic() < deadline_s, f"both go on: {first.story()} {second.story()}"
                write(servers, "transfer", transfers(count, count + 5))
                count += 5
                time.sleep(0.5)
            fenced, alive = (first, second) if first.process.poll() is not None else (second, first)
            assert fenced.wait_for_end() == 1, fenced.story()
            (failure,) = [event for event in fenced.events if event["event"] == "failed"]
            assert "another driver" in failure["problem"]
            write(servers, "transfer", transfers(count, count + 5))
            count += 5
            until(lambda: lag(servers, "transfer", "fencepost.default.transfer") == 0, WAIT_S)
            assert alive.terminate() == 0, alive.story()
    updates = [json.loads(value) for _, value in read(servers, "balance-update")]
    assert sorted((int(update["transfer"]), update["kind"]) for update in updates) == [
        (n, kind) for n in range(count) for kind in ("credit", "debit")
    ]


@pytest.mark.deep
def test_a_run_whose_jvm_is_killed_starts_another_one_and_goes_on(servers, tmp_path):
    create(servers, "transfer")
    write(servers, "transfer", transfers(0, 20))
    with Run("transfer.py", servers, tmp_path) as run:
        run.wait_for_progress(rows_out=40)
        (jvm,) = [process for process in run.family() if process.name() == "java"]
        jvm.send_signal(signal.SIGKILL)
        write(servers, "transfer", transfers(20, 40))
        run.wait_for_progress(rows_out=80)
        family = run.family()
        assert run.terminate() == 0
    assert_gone(family)
    assert len(read(servers, "balance-update")) == 80


def test_a_missing_input_topic_is_refused_with_the_nearest_and_outputs_are_not_made(servers):
    """In a process of its own: Spark is started while the broker is asked."""
    create(servers, "purchase")
    command = [sys.executable, "-m", "fencepost", "run", SHOP, "-b", servers, "--checkpoint", "unused"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert result.returncode == 1
    assert "no topic 'purchases', to be read; did you mean 'purchase'?" in result.stdout + result.stderr


def test_an_option_that_the_source_would_refuse_is_refused_before_the_run(servers, without_spark):
    create(servers, "purchases")
    wrong = ("--set", "maxOffsetsPerTrigger=abc")
    result = run_command("run", SHOP, "-b", servers, "--checkpoint", "unused", "--once", *wrong)
    assert result.exit_code == 2
    assert "option 'maxOffsetsPerTrigger' is 'abc': expected a whole number" in result.err


def test_a_broker_that_is_not_there_is_told_at_once(without_spark):
    result = run_command("run", SHOP, "-b", "127.0.0.1:1", "--checkpoint", "unused")
    assert result.exit_code == 3
    assert "127.0.0.1:1" in result.err


def test_the_graph_can_be_drawn_without_a_broker_and_without_spark(without_spark):
    result = run_command("run", str(EXAMPLES / "chain.py"), "--graph")
    assert result.exit_code == 0
    assert "└─▶ [overdrawn]" in result.out
    assert without_spark == []


def test_an_unknown_option_is_refused_before_anything_starts(without_spark):
    result = run_command("run", SHOP, "--set", "maxOffsetPerTrigger=5")
    assert result.exit_code == 2
    assert "maxOffsetsPerTrigger" in result.err
