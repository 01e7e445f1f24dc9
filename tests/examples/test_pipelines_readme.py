"""The commands of the pipelines' README, as they stand: a broker, topics, each pipeline until it has written what it
should, and the proofs.
"""

import json
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.client import Producer, read_arrow
from fencepost.client.exceptions import UnknownTopicOrPartition
from tests.examples.readme_commands import EXAMPLES, PATIENCE_S, Checkout, commands_in
from tests.spark_commands import Command, SparkCommands

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]
COMMANDS = commands_in(EXAMPLES / "pipelines" / "README.md")
COUNT = 6
PURCHASE = {"userId": "ada", "userFullName": "Ada", "productId": "hat", "quantity": 1, "totalPrice": 9.5}
TRANSFER = {"number": "1", "payer": "alice", "payee": "bob", "amount": 10}
UPDATE = {"transfer": "1", "account": "bob", "kind": "credit", "amount": 10}
DEBIT = {"transfer": "1", "account": "bob", "kind": "debit", "amount": 500}
ORDER = {"orderId": "1", "product": "hat"}
PAYMENT = {"orderId": "1", "amount": 10}

Inputs = dict[str, list[bytes]]
Outputs = dict[str, int]


def rows(value: dict[str, object], count: int = COUNT) -> list[bytes]:
    return [json.dumps(value).encode()] * count


STORIES: dict[str, tuple[Inputs, Outputs]] = {
    "shop": ({"purchases": rows(PURCHASE)}, {"invoices": COUNT, "shipments": COUNT}),
    "squares": ({"tx-input": [struct.pack(">i", number) for number in range(COUNT)]}, {"tx-output": COUNT}),
    "transfer": ({"transfer": rows(TRANSFER)}, {"balance-update": 2 * COUNT}),
    "balances": ({"balance-update": rows(UPDATE)}, {"balances": 1}),
    "alerts": ({"balance-update": rows(DEBIT)}, {"account-alerts": 1}),
    "payments": ({"orders": rows(ORDER, 1), "payments": rows(PAYMENT, 1)}, {"receipts": 1}),
    "chain": ({"transfer": rows(TRANSFER)}, {"balance-update": 2 * COUNT, "balances": 2, "overdrawn": 1}),
}
"""Pipeline -> what it is given, and at least how many records come of it."""


@pytest.fixture
def checkout(tmp_path: Path, spark_commands: SparkCommands) -> Iterator[Checkout]:
    """With the broker that the README starts, on a port that is free."""
    [serve] = [command for command in COMMANDS if command.startswith("fencepost serve")]
    made = Checkout(tmp_path, spark=spark_commands)
    with made.running(f"{serve.removesuffix('&')} --listen 127.0.0.1:0") as broker:
        assert broker.stdout is not None
        made.servers = broker.stdout.readline().split()[-1]
        yield made


def commands_for(name: str) -> list[str]:
    return [command for command in COMMANDS if f"/{name}.py" in command]


def is_written(servers: str, outputs: Outputs) -> bool:
    try:
        return all(read_arrow(servers, topic).num_rows >= count for topic, count in outputs.items())
    except UnknownTopicOrPartition:
        return False


def wait_for(outputs: Outputs, checkout: Checkout, process: "subprocess.Popen[str] | Command") -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not is_written(checkout.servers, outputs):
        assert process.poll() is None, "the pipeline ended by itself"
        assert time.monotonic() < deadline_s, f"not written in time: {outputs}"
        time.sleep(0.5)


def test_every_command_belongs_to_a_story() -> None:
    told = [command for name in STORIES for command in commands_for(name)]
    others = [command for command in COMMANDS if command not in told]
    assert [command.split()[:3] for command in others] == [
        ["fencepost", "serve", "&"],
        ["fencepost", "topics", "create"],
    ]


@pytest.mark.parametrize("name", STORIES)
def test_the_commands_of_a_pipeline_run_as_they_stand(checkout: Checkout, name: str) -> None:
    if name == "alerts":
        pytest.importorskip("google.protobuf", reason="protobuf is not installed: pip install protobuf")
    inputs, outputs = STORIES[name]
    for command in COMMANDS:
        if command.startswith("fencepost topics create") and command.split()[3] in inputs:
            checkout.run(command)
    with Producer(checkout.servers) as producer:
        for topic, values in inputs.items():
            for index, value in enumerate(values):
                producer.send(topic, value, key=b"%d" % index)
    for command in commands_for(name):
        if command.startswith("fencepost audit"):
            assert "exactly once: nothing lost" in checkout.run(command)
        elif "--graph" in command:
            assert "overdrawn" in checkout.run(command)
        else:
            with checkout.running(command) as process:
                wait_for(outputs, checkout, process)
