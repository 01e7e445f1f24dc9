"""`fencepost topics` against both brokers."""

from fencepost.client.admin.admin import Admin
from tests.cli.running import Cli


def test_a_topic_is_created_listed_described_altered_and_deleted(cli: Cli, name: str) -> None:
    created = cli("topics", "create", name, "--partitions", "3", "--set", "retention.ms=86400000")
    assert created.out == f"created {name}\n"
    row = next(row for row in cli("topics", "list", "--json").json() if row["name"] == name)
    assert row == {"name": name, "partitions": 3, "offsets": 0}
    described = cli("topics", "describe", name, "--json").json()
    assert [each["partition"] for each in described["partitions"]] == [0, 1, 2]
    assert described["settings"] == {"retention.ms": "86400000"}
    cli("topics", "alter", name, "--unset", "retention.ms", "--set", "cleanup.policy=compact", "--partitions", "4")
    described = cli("topics", "describe", name, "--json").json()
    assert len(described["partitions"]) == 4
    assert described["settings"] == {"cleanup.policy": "compact"}
    assert cli("topics", "delete", name, "--yes", "--json").json()["is_done"]
    assert name not in cli("topics", "list").out


def test_a_topic_that_is_there_is_left_alone_if_asked(cli: Cli, topic: str) -> None:
    assert "already exists" in cli("topics", "create", topic, exit_code=1).err
    assert cli("topics", "create", topic, "--if-not-exists", "-p", "9").out == f"{topic} is there already\n"
    assert len(cli("topics", "describe", topic, "--json").json()["partitions"]) == 2


def test_deleting_without_yes_is_a_preview(cli: Cli, topic: str) -> None:
    cli("produce", topic, typed="a\nb\n")
    preview = cli("topics", "delete", topic)
    assert preview.table() == [{"TOPIC": topic, "PARTITIONS": "2", "OFFSETS": "2"}]
    assert "--yes" in preview.err
    with Admin(cli.servers) as admin:
        assert topic in admin.describe_topics()


def test_internal_topics_are_listed_when_asked_and_never_deleted(cli: Cli) -> None:
    assert "__consumer_offsets" not in cli("topics", "list").out
    assert "__consumer_offsets" in cli("topics", "list", "--internal").out
    assert "lives on it" in cli("topics", "delete", "__consumer_offsets", "--yes", exit_code=1).err


def test_the_last_stable_offset_is_shown_beside_the_end(cli: Cli, topic: str, name: str) -> None:
    cli("produce", topic, "-p", "0", "--transactional-id", name, "--leave-open", typed="held\n")
    cli("produce", topic, "-p", "0", typed="hidden\n")
    row = cli("topics", "describe", topic, "--json").json()["partitions"][0]
    assert (row["last_stable_offset"], row["end_offset"]) == (0, 2)
    cli("txn", "abort", name, "--yes")


def test_a_setting_that_no_topic_has_is_refused_in_plain_words(cli: Cli, topic: str) -> None:
    refused = cli("topics", "alter", topic, "--set", "retention.mss=1", exit_code=1)
    assert "retention.mss" in refused.err
    assert "Traceback" not in refused.err
