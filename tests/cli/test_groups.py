"""`fencepost groups` against both brokers."""

from fencepost.client.admin.admin import Admin
from fencepost.client.consumer.consumer import Consumer
from fencepost.client.producer.producer import Producer
from tests.cli.running import Cli


def offsets_of(cli: Cli, group: str) -> dict[int, dict[str, int]]:
    rows = cli("groups", "describe", group, "--json").json()["offsets"]
    return {row["partition"]: row for row in rows}


def test_lag_is_records_to_read_and_not_offsets(cli: Cli, topic: str, name: str) -> None:
    cli("produce", topic, "-p", "0", typed="first\n")
    assert cli("consume", topic, "-g", name).out == "first\n"
    cli("produce", topic, "-p", "0", "--transaction", "--abort", typed="aborted\n" * 5)
    cli("produce", topic, "-p", "0", "--transaction", typed="committed\n" * 3)
    row = offsets_of(cli, name)[0]
    assert row["end_offset"] - row["committed_offset"] == 10, "offsets overstate it"
    assert row["records_to_read"] == 3
    assert row["is_counted"]
    [uncounted] = cli("groups", "describe", name, "--count-for", "0ms", "--json").json()["offsets"]
    assert (uncounted["records_to_read"], uncounted["is_counted"]) == (10, False), "an upper bound, told as one"
    assert "<=10" in cli("groups", "describe", name, "--count-for", "0ms").out
    cli("consume", topic, "-g", name)
    row = offsets_of(cli, name)[0]
    assert row["records_to_read"] == 0


def test_what_an_open_transaction_holds_back_is_told_apart_from_lag(cli: Cli, topic: str, name: str) -> None:
    cli("produce", topic, "-p", "0", typed="first\n")
    cli("consume", topic, "-g", name)
    cli("produce", topic, "-p", "0", "--transactional-id", name, "--leave-open", typed="open\n")
    cli("produce", topic, "-p", "0", typed="behind\n")
    row = offsets_of(cli, name)[0]
    assert (row["records_to_read"], row["offsets_held_back"]) == (0, 2)
    cli("txn", "abort", name, "--yes")
    row = offsets_of(cli, name)[0]
    assert (row["records_to_read"], row["offsets_held_back"]) == (1, 0)


def test_members_are_shown_with_what_they_read(cli: Cli, topic: str, name: str) -> None:
    cli("produce", topic, "-p", "1", typed="a\n")
    with Consumer(
        cli.servers, topics=[topic], group_id=name, client_id="reader-7", auto_offset_reset="earliest"
    ) as consumer:
        while not consumer.poll(1.0):
            pass
        described = cli("groups", "describe", name, "--json").json()
        assert described["members"][0]["client_id"] == "reader-7"
        assert described["members"][0]["partitions"] == [f"{topic}-0", f"{topic}-1"]
        assert [(row["committed_offset"], row["records_to_read"]) for row in described["offsets"]] == [(None, None)] * 2
        consumer.commit_sync({(topic, 1): 0})
        assert offsets_of(cli, name)[1]["records_to_read"] == 1
        assert offsets_of(cli, name)[0]["records_to_read"] is None
        refused = cli("groups", "reset", name, "--to", "earliest", "--topic", topic, "--yes", exit_code=1)
        assert "reader-7" in refused.err
    assert name in cli("groups", "list").out


def test_a_reset_is_shown_before_it_is_done(cli: Cli, topic: str, name: str) -> None:
    cli("produce", topic, "-p", "0", typed="1\n2\n3\n4\n")
    cli("consume", topic, "-g", name)
    preview = cli("groups", "reset", name, "--to", "1", "--topic", topic, "-p", "0")
    assert preview.table() == [
        {"PARTITION": f"{topic}-0", "COMMITTED": "4", "WOULD BE": "1", "MOVES BY": "-3"},
    ]
    assert offsets_of(cli, name)[0]["committed_offset"] == 4
    done = cli("groups", "reset", name, "--to", "-2", "--topic", topic, "-p", "0", "--yes", "--json").json()
    assert done["is_done"]
    assert done["offsets"] == [{"partition": f"{topic}-0", "before": 4, "after": 2}]
    assert cli("consume", topic, "-g", name).out == "3\n4\n"


def test_offsets_that_a_transaction_has_pending_are_told(cli: Cli, topic: str, name: str) -> None:
    cli("produce", topic, "-p", "0", typed="1\n")
    cli("consume", topic, "-g", name)
    with Producer(cli.servers, transactional_id=name) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send_offsets_to_transaction({(topic, 0): 0}, name)
        assert cli("groups", "describe", name, "--json").json()["has_pending_offsets"]
        assert "pending" in cli("groups", "describe", name).err
        producer.abort_transaction()
        with Admin(cli.servers) as admin:
            admin.await_transaction_end(name)
    assert not cli("groups", "describe", name, "--json").json()["has_pending_offsets"]


def test_a_group_is_deleted_after_a_preview(cli: Cli, topic: str, name: str) -> None:
    cli("produce", topic, "-p", "0", typed="1\n")
    cli("consume", topic, "-g", name)
    assert f"{topic}-0" in cli("groups", "delete", name).out
    cli("groups", "delete", name, "--yes")
    with Admin(cli.servers) as admin:
        assert name not in [group.group_id for group in admin.list_groups()]
    assert "fencepost groups list" in cli("groups", "describe", name, exit_code=1).err
