"""`fencepost serve` as a process: how it starts, refuses, stops and starts again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.server.raw_client import RawClient
from tests.server.test_connections import create_topic, fetch_request, produce_request

PRODUCE, FETCH, METADATA = 0, 1, 3


class ServeProcess:
    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "fencepost", "serve", "--listen", "127.0.0.1:0", "--data", str(folder)]
        self.process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("listening on 127.0.0.1:"), self.process.communicate(timeout=10)
        self.bootstrap_servers = line.split()[-1]

    def end(self, signal_number: signal.Signals) -> int:
        os.kill(self.process.pid, signal_number)
        self.process.communicate(timeout=30)
        return self.process.returncode


def run_serve(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fencepost", "serve", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **environment}
    )


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_what_was_acknowledged_is_there_after_any_end_of_the_process(
    tmp_path: Path, signal_number: signal.Signals
) -> None:
    first = ServeProcess(tmp_path / "data")
    with RawClient(first.bootstrap_servers) as client:
        create_topic(client)
        for number in range(20):
            response = client.ask(PRODUCE, 9, produce_request(f"value-{number}".encode()))
            assert response.responses[0].partition_responses[0].error_code == ErrorCode.NONE
    exit_code = first.end(signal_number)
    assert exit_code == (0 if signal_number != signal.SIGKILL else -signal.SIGKILL)
    second = ServeProcess(tmp_path / "data")
    try:
        with RawClient(second.bootstrap_servers) as client:
            data = client.ask(FETCH, 11, fetch_request(offset=0, max_wait_ms=0)).responses[0].partitions[0]
            stored = b"".join(data.records)
            assert data.high_watermark == 20
            assert all(f"value-{number}".encode() in stored for number in range(20))
    finally:
        assert second.end(signal.SIGTERM) == 0


def test_two_brokers_on_one_folder_the_second_refuses_and_says_who_owns_it(tmp_path: Path) -> None:
    first = ServeProcess(tmp_path / "data")
    try:
        second = run_serve("--listen", "127.0.0.1:0", "--data", str(tmp_path / "data"))
        assert second.returncode == 1
        assert str(first.process.pid) in second.stderr
        assert "Traceback" not in second.stderr
    finally:
        first.end(signal.SIGTERM)


def test_settings_come_from_a_file_the_environment_and_the_command_line_in_this_order(tmp_path: Path) -> None:
    config = tmp_path / "broker.toml"
    config.write_text('"num.partitions" = 2\ngroup.max.size = 7\n')
    broker = ServeProcess(tmp_path / "data", "--config", str(config), "--set", "num.partitions=3")
    try:
        with RawClient(broker.bootstrap_servers) as client:
            response = client.ask(METADATA, 9, MetadataRequest(topics=[MetadataRequestTopic(name="three")]))
            assert len(response.topics[0].partitions) == 3
    finally:
        broker.end(signal.SIGTERM)


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        (("--listen", "0.0.0.0:0"), {}, "--insecure"),
        (("--listen", "nonsense"), {}, "HOST:PORT"),
        (("--set", "num.partition=3"), {}, "did you mean 'num.partitions'?"),
        (("--set", "num.partitions"), {}, "NAME=VALUE"),
        (("--config", "no-such-file.toml"), {}, "no-such-file.toml"),
        ((), {"FENCEPOST_NUM_PARTITION": "3"}, "FENCEPOST_NUM_PARTITION"),
    ],
)
def test_a_mistake_is_answered_with_one_clear_message(
    arguments: tuple[str, ...], environment: dict[str, str], said: str
) -> None:
    done = run_serve(*arguments, **environment)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path) -> None:
    first = ServeProcess(tmp_path / "one")
    try:
        second = run_serve("--listen", first.bootstrap_servers, "--data", str(tmp_path / "two"))
        assert second.returncode == 1
        assert "address already in use" in second.stderr
        assert "Traceback" not in second.stderr
    finally:
        first.end(signal.SIGTERM)
