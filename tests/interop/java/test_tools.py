"""Kafka's command line tools against our broker: what they print is what is there."""

import json
import re

import pytest

from fencepost.server.embedded import EmbeddedBroker
from tests.interop.java.java_program import JavaClient
from tests.interop.java.tools import run_tools

pytestmark = pytest.mark.kafka

TOOLS = "org.apache.kafka.tools"
COPIED = 14 * 150
"""The copier does whole transactions, of 150 records."""
GROUPS = f"{TOOLS}.consumer.group.ConsumerGroupCommand"


def test_topics_records_offsets_and_groups(broker: EmbeddedBroker, java_4: JavaClient) -> None:
    at = ["--bootstrap-server", broker.bootstrap_servers]
    topic = ["--topic", "orders"]
    typed = [f"key-{number}:value-{number}" for number in range(20)]
    created, described, produced, consumed, offsets, listed, group, reset, again, gone, deleted, left = run_tools(
        java_4,
        [f"{TOOLS}.TopicCommand", *at, "--create", *topic, "--partitions", "2", "--config", "retention.ms=99999"],
        [f"{TOOLS}.TopicCommand", *at, "--describe", *topic],
        [
            f"{TOOLS}.ConsoleProducer",
            *at,
            *topic,
            "--reader-property",
            "parse.key=true",
            "--reader-property",
            "key.separator=:",
        ],
        [
            f"{TOOLS}.consumer.ConsoleConsumer",
            *at,
            *topic,
            "--from-beginning",
            "--max-messages",
            "20",
            "--timeout-ms",
            "10000",
            "--group",
            "console",
            "--formatter-property",
            "print.key=true",
        ],
        [f"{TOOLS}.GetOffsetShell", *at, *topic],
        [GROUPS, *at, "--list"],
        [GROUPS, *at, "--describe", "--group", "console"],
        [GROUPS, *at, "--reset-offsets", "--group", "console", *topic, "--to-earliest", "--execute"],
        [GROUPS, *at, "--describe", "--group", "console"],
        [GROUPS, *at, "--delete", "--group", "console"],
        [f"{TOOLS}.TopicCommand", *at, "--delete", *topic],
        [f"{TOOLS}.TopicCommand", *at, "--list", "--exclude-internal"],
        typed={2: typed},
    )
    assert created.text.strip() == "Created topic orders."
    assert "PartitionCount: 2" in described.text
    assert "retention.ms=99999" in described.text
    assert described.text.count("Leader: 1") == 2
    assert produced.exit_code == 0
    assert sorted(consumed.lines) == sorted(line.replace(":", "\t") for line in typed)
    counts = {line.split(":")[1]: int(line.split(":")[2]) for line in offsets.lines}
    assert sum(counts.values()) == 20
    assert listed.lines == ["console"]
    assert {row["PARTITION"]: row["LAG"] for row in _group_rows(group.text)} == {"0": "0", "1": "0"}
    assert {row["NEW-OFFSET"] for row in reset.rows()} == {"0"}
    assert {row["PARTITION"]: int(row["LAG"]) for row in _group_rows(again.text)} == dict(counts.items())
    assert "was successful" in gone.text
    assert deleted.exit_code == 0
    assert left.lines == []


def _group_rows(text: str) -> list[dict[str, str]]:
    lines = [line.split() for line in text.splitlines() if line.strip() and "has no active members" not in line]
    headings, *rows = lines
    return [dict(zip(headings, row, strict=False)) for row in rows]


def test_settings_records_and_the_broker(broker: EmbeddedBroker, java_4: JavaClient, tmp_path) -> None:  # type: ignore[no-untyped-def]
    at = ["--bootstrap-server", broker.bootstrap_servers]
    deletion = tmp_path / "deletion.json"
    deletion.write_text(json.dumps({"partitions": [{"topic": "orders", "partition": 0, "offset": 30}], "version": 1}))
    entity = ["--entity-type", "topics", "--entity-name", "orders"]
    made, performed, consumed, altered, shown, deleted, earliest, versions, cluster, features, directories = run_tools(
        java_4,
        [f"{TOOLS}.TopicCommand", *at, "--create", "--topic", "orders", "--partitions", "1"],
        [
            f"{TOOLS}.ProducerPerformance",
            "--topic",
            "orders",
            "--num-records",
            "5000",
            "--record-size",
            "100",
            "--throughput",
            "-1",
            "--producer-props",
            f"bootstrap.servers={broker.bootstrap_servers}",
        ],
        [f"{TOOLS}.ConsumerPerformance", *at, "--topic", "orders", "--num-records", "5000", "--timeout", "10000"],
        ["kafka.admin.ConfigCommand", *at, "--alter", *entity, "--add-config", "max.message.bytes=4321"],
        ["kafka.admin.ConfigCommand", *at, "--describe", *entity],
        [f"{TOOLS}.DeleteRecordsCommand", *at, "--offset-json-file", str(deletion)],
        [f"{TOOLS}.GetOffsetShell", *at, "--topic", "orders", "--time", "earliest"],
        [f"{TOOLS}.BrokerApiVersionsCommand", *at],
        [f"{TOOLS}.ClusterTool", "cluster-id", *at],
        [f"{TOOLS}.FeatureCommand", *at, "describe"],
        [f"{TOOLS}.LogDirsCommand", *at, "--describe", "--topic-list", "orders"],
    )
    assert made.exit_code == altered.exit_code == 0
    assert performed.text.strip().splitlines()[-1].startswith("5000 records sent")
    assert [line.split(", ")[4] for line in consumed.lines[1:]] == ["5000"]
    assert "max.message.bytes=4321" in shown.text
    assert "low_watermark: 30" in deleted.text
    assert earliest.lines == ["orders:0:30"]
    assert re.search(r"Produce\(0\): 0 to 13 \[usable: 13\]", versions.text)
    assert cluster.text.startswith("Cluster ID: ")
    assert re.search(r"Feature: transaction.version\s.*FinalizedVersionLevel: 2", features.text)
    sizes = json.loads(directories.lines[-1])["brokers"][0]["logDirs"][0]["partitions"]
    assert [each["partition"] for each in sizes] == ["orders-0"]
    assert sizes[0]["size"] > 0


@pytest.mark.parametrize("client", ["java_3", "java_4"])
def test_transactions_of_the_perf_producer_the_copier_and_the_transactions_command(
    broker: EmbeddedBroker, request: pytest.FixtureRequest, client: str
) -> None:
    java: JavaClient = request.getfixturevalue(client)
    servers = broker.bootstrap_servers
    at = ["--bootstrap-server", servers]
    committed = ["--isolation-level", "read_committed", "--from-beginning"]
    reader = [f"{TOOLS}.consumer.ConsoleConsumer", *at, *committed, "--topic"]
    made, copies, performed, offsets, copied, consumed, source, listed, described, producers, hanging = run_tools(
        java,
        [f"{TOOLS}.TopicCommand", *at, "--create", "--topic", "input", "--partitions", "1"],
        [f"{TOOLS}.TopicCommand", *at, "--create", "--topic", "copies", "--partitions", "1"],
        [
            f"{TOOLS}.ProducerPerformance",
            "--topic",
            "input",
            "--num-records",
            "3000",
            "--record-size",
            "50",
            "--throughput",
            "3000",
            "--transactional-id",
            "perf",
            "--transaction-duration-ms",
            "100",
            "--producer-props",
            f"bootstrap.servers={servers}",
        ],
        [f"{TOOLS}.GetOffsetShell", *at, "--topic", "input"],
        [
            f"{TOOLS}.TransactionalMessageCopier",
            "--broker-list",
            servers,
            "--input-topic",
            "input",
            "--output-topic",
            "copies",
            "--input-partition",
            "0",
            "--max-messages",
            str(COPIED),
            "--transaction-size",
            "150",
            "--transactional-id",
            "copier",
            "--consumer-group",
            "copiers",
            "--enable-random-aborts",
        ],
        [*reader, "copies", "--timeout-ms", "3000"],
        [*reader, "input", "--timeout-ms", "3000", "--max-messages", str(COPIED)],
        [f"{TOOLS}.TransactionsCommand", *at, "list"],
        [f"{TOOLS}.TransactionsCommand", *at, "describe", "--transactional-id", "perf"],
        [f"{TOOLS}.TransactionsCommand", *at, "describe-producers", "--topic", "input", "--partition", "0"],
        [f"{TOOLS}.TransactionsCommand", *at, "find-hanging", "--broker-id", "1"],
    )
    assert made.exit_code == copies.exit_code == 0
    assert performed.text.strip().splitlines()[-1].startswith("3000 records sent")
    assert int(offsets.lines[0].rsplit(":", 1)[1]) > 3000, "records and markers"
    assert copied.exit_code == 0
    assert json.loads(copied.lines[-1])["transactionalId"] == "copier"
    values = [line for line in consumed.lines if len(line) == 50]
    assert len(values) == COPIED
    assert values == [line for line in source.lines if len(line) == 50]
    assert {row["TransactionalId"]: row["TransactionState"] for row in listed.rows()} == {
        "perf": "CompleteCommit",
        "copier": "CompleteCommit",
    }
    [row] = described.rows()
    assert (row["TransactionalId"], row["TransactionState"]) == ("perf", "CompleteCommit")
    assert [row["CurrentTransactionStartOffset"] for row in producers.rows()] == ["None"]
    assert len(hanging.lines) == 1, "a line of headings and nothing hanging"
