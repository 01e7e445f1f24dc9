"""`fencepost produce` and `fencepost consume` against both brokers."""

import time

import pytest

from fencepost.client.admin.admin import Admin
from tests.cli.running import Cli

ON_OUR_BROKER = pytest.mark.parametrize("servers", ["fencepost"], indirect=True)
"""What the command does by itself, whichever broker stores the records."""


def test_lines_become_records_and_come_back_as_lines(cli: Cli, topic: str) -> None:
    said = cli("produce", topic, "-p", "0", typed="one\ntwo\n\n")
    assert "3 records" in said.err
    assert cli("consume", topic).out == "one\ntwo\n\n"


def test_keys_values_headers_and_nulls_survive_the_round_trip_through_json(cli: Cli, topic: str, name: str) -> None:
    typed = b"k:v\nNULL:x\nk2:NULL\n\xff\xfe:\x80binary\n"
    cli("produce", topic, "-p", "1", "-s", ":", "--null", "NULL", "-H", "source=shop", typed=typed)
    printed = cli("consume", topic, "--json")
    cli("topics", "create", f"{name}-copy", "-p", "2")
    cli("produce", f"{name}-copy", "-f", "json", typed=printed.out)
    copies = cli("consume", f"{name}-copy", "--json").json_lines()
    for before, after in zip(printed.json_lines(), copies, strict=True):
        assert after == before | {"topic": f"{name}-copy"}
    assert [row.get("key", "binary") for row in copies] == ["k", None, "k2", "binary"]
    assert copies[2]["value"] is None
    assert copies[0]["headers"] == [{"key": "source", "value": "shop"}]


@ON_OUR_BROKER
def test_each_file_can_be_one_record(cli: Cli, topic: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    for number in range(2):
        (tmp_path / f"{number}.txt").write_bytes(b"line\nline %d\n" % number)
    cli("produce", topic, "-f", "files", "-p", "0", str(tmp_path / "0.txt"), str(tmp_path / "1.txt"))
    values = [row["value"] for row in cli("consume", topic, "--json").json_lines()]
    assert values == ["line\nline 0\n", "line\nline 1\n"]


@ON_OUR_BROKER
def test_a_key_goes_where_its_hash_says_unless_a_partition_is_given(cli: Cli, topic: str) -> None:
    outcome = cli("produce", topic, "-k", "a", "--json", typed="1\n2\n").json()
    assert len(outcome["partitions"]) == 1
    assert outcome["partitions"][0]["records"] == 2
    given = cli("produce", topic, "-k", "a", "-p", "1", "--json", typed="3\n").json()
    assert [row["partition"] for row in given["partitions"]] == [1]


def test_an_aborted_transaction_is_seen_by_nobody_who_did_not_ask(cli: Cli, topic: str, name: str) -> None:
    cli("produce", topic, "-p", "0", "--transaction", typed="kept\n")
    aborted = cli(
        "produce", topic, "-p", "0", "--transactional-id", name, "--abort", "--json", typed="dropped\n"
    ).json()
    assert aborted["transaction"]["outcome"] == "abort"
    assert cli("consume", topic).out == "kept\n"
    assert cli("consume", topic, "-i", "read_uncommitted").out == "kept\ndropped\n"
    rows = cli("consume", topic, "--markers", "--aborted", "--json").json_lines()
    assert [row["status"] for row in rows] == ["committed", "marker", "aborted", "marker"]
    assert [row["marker"]["type"] for row in rows if row["status"] == "marker"] == ["commit", "abort"]
    assert [row["offset"] for row in rows] == [0, 1, 2, 3]


def test_an_open_transaction_hides_what_lies_behind_it_and_is_shown_when_asked(cli: Cli, topic: str, name: str) -> None:
    cli("produce", topic, "-p", "0", "--transactional-id", name, "--leave-open", typed="open\n")
    cli("produce", topic, "-p", "0", typed="behind\n")
    cli("produce", topic, "-p", "0", "--transaction", typed="decided\n")
    assert cli("consume", topic).out == ""
    rows = cli("consume", topic, "--open", "--json").json_lines()
    assert [(row["status"], row["value"]) for row in rows] == [
        ("open", "open"),
        ("plain", "behind"),
        ("committed", "decided"),
    ]
    cli("txn", "abort", name, "--yes")
    assert cli("consume", topic).out == "behind\ndecided\n"


def test_reading_stops_and_starts_where_offsets_say(cli: Cli, topic: str) -> None:
    cli("produce", topic, "-p", "0", typed="".join(f"{number}\n" for number in range(10)))
    assert cli("consume", topic, "-p", "0", "--from", "2", "--to", "5").out == "2\n3\n4\n"
    assert cli("consume", topic, "--from", "-2").out == "8\n9\n"
    assert cli("consume", topic, "-n", "3").out == "0\n1\n2\n"
    assert cli("consume", topic, "--from", "latest").out == ""
    assert cli("consume", topic, "--from", "100").out == ""


def test_reading_stops_and_starts_where_times_say(cli: Cli, topic: str) -> None:
    now_ms = int(time.time() * 1000)
    lines = "".join(
        f'{{"value": "{age} minutes", "partition": 0, "timestamp_ms": {now_ms - age * 60_000}}}\n'
        for age in (30, 20, 10)
    )
    cli("produce", topic, "-f", "json", typed=lines)
    assert cli("consume", topic, "--from", "25m").out == "20 minutes\n10 minutes\n"
    assert cli("consume", topic, "--from", "25m", "--to", "15m").out == "20 minutes\n"
    assert cli("consume", topic, "--from", f"@{now_ms - 600_000}").out == "10 minutes\n"


def test_a_group_goes_on_where_it_stopped(cli: Cli, topic: str, name: str) -> None:
    cli("produce", topic, "-p", "0", typed="1\n2\n3\n")
    assert cli("consume", topic, "-g", name, "-n", "2").out == "1\n2\n"
    assert cli("consume", topic, "-g", name).out == "3\n"
    assert cli("consume", topic, "-g", name).out == ""
    with Admin(cli.servers) as admin:
        assert [row.offset for where, row in admin.group_offsets(name).items() if where.partition == 0] == [3]


def test_following_ends_when_nothing_comes(cli: Cli, topic: str) -> None:
    cli("produce", topic, "-p", "0", typed="1\n")
    assert cli("consume", topic, "--follow", "--timeout", "1s").out == "1\n"
    assert cli("consume", topic, "--follow", "--timeout", "1s", "--markers", "-f", "value").out == "1\n"


@ON_OUR_BROKER
@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("value", "v\n"),
        ("pair", "k\tv\n"),
        ("{partition}/{offset} {key}={value} {headers}", "0/0 k=v h=1\n"),
        (r"{key}\t{value}\n", "k\tv\n"),
    ],
)
def test_records_are_printed_as_asked(cli: Cli, topic: str, chosen: str, expected: str) -> None:
    cli("produce", topic, "-p", "0", "-k", "k", "-H", "h=1", typed="v\n")
    assert cli("consume", topic, "--format", chosen).out == expected


def test_a_topic_that_does_not_exist_is_not_made_by_writing_to_it(cli: Cli, name: str) -> None:
    refused = cli("produce", name, typed="a\n", exit_code=1)
    assert "fencepost topics list" in refused.err
    assert name not in cli("topics", "list").out


@ON_OUR_BROKER
def test_a_bad_line_aborts_the_whole_transaction_and_is_named(cli: Cli, topic: str) -> None:
    refused = cli("produce", topic, "-s", ":", "--transaction", typed="k:v\nno separator\n", exit_code=1)
    assert "line 2" in refused.err
    assert cli("consume", topic).out == ""
