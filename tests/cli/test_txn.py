"""`fencepost txn` against both brokers."""

import time
from collections.abc import Iterator

import pytest

from fencepost.client.admin.admin import Admin
from fencepost.client.exceptions import ClientError
from fencepost.client.producer.producer import Producer
from tests.cli.running import Cli


@pytest.fixture
def shop(cli: Cli, servers: str, name: str) -> Iterator[Producer]:
    """The documents' shop: a producer with topics for invoices and shipments."""
    cli("topics", "create", *(f"{name}-{kind}" for kind in ("purchases", "invoices", "shipments")))
    with Producer(servers, transactional_id=name, client_id="shop-app") as producer:
        producer.init_transactions()
        yield producer


def sell(producer: Producer, name: str, number: int) -> None:
    for topic, value in (("invoices", b"invoice"), ("shipments", b"shipment"), ("invoices", b"second invoice")):
        producer.send(f"{name}-{topic}", value=value, partition=0).result()
        time.sleep(0.002)  # the timeline goes by milliseconds
    producer.send_offsets_to_transaction({(f"{name}-purchases", 0): number}, f"{name}-group")


def end(cli: Cli, producer: Producer, name: str, *, commits: bool = True) -> None:
    """Kafka answers once the end is decided: wait until it is written everywhere."""
    producer.commit_transaction() if commits else producer.abort_transaction()
    with Admin(cli.servers) as admin:
        admin.await_transaction_end(name)


def steps(cli: Cli, name: str, *arguments: str) -> list[tuple[str, str, str]]:
    """Step, topic without the test's name, and what."""
    rows = cli("txn", "describe", name, "--json", *arguments).json()["timeline"]
    return [(row["step"], row["topic"].removeprefix(f"{name}-"), row["what"]) for row in rows]


def test_the_timeline_has_the_documents_steps_in_their_order(cli: Cli, shop: Producer, name: str) -> None:
    shop.begin_transaction()
    sell(shop, name, 1)
    end(cli, shop, name)
    shown = steps(cli, name)
    state, offsets = "__transaction_state", "__consumer_offsets"
    assert [(step, topic) for step, topic, _ in shown] == [
        ("1, 2", state),
        ("5", state),
        ("6", "invoices"),
        ("5", state),
        ("6", "shipments"),
        ("6", "invoices"),
        ("7", state),
        ("8", offsets),
        ("9", state),
        *sorted([("10", "invoices"), ("10", "shipments"), ("10", offsets)], key=lambda row: _order(shown, row)),
        ("11", state),
        *sorted([("12", "invoices"), ("12", "shipments")], key=lambda row: _order(shown, row)),
    ]
    words = [what for _, _, what in shown]
    assert f"group {name}-group: {name}-purchases-0 to 1" in words
    assert "PrepareCommit: decided" in words
    assert sum("COMMIT marker" in what for what in words) == 3
    assert words.count("read_committed readers are past it") == 2


def _order(shown: list[tuple[str, str, str]], row: tuple[str, str]) -> int:
    """Markers are written side by side: any order will do."""
    return [(step, topic) for step, topic, _ in shown].index(row)


def test_an_earlier_transaction_of_the_same_producer_is_told_apart(cli: Cli, shop: Producer, name: str) -> None:
    for number in (1, 2):
        shop.begin_transaction()
        sell(shop, name, number)
        end(cli, shop, name, commits=number == 1)
    last, first = steps(cli, name), steps(cli, name, "--previous", "1")
    assert sum(what.startswith("ABORT marker") for _, _, what in last) == 3
    assert sum(what.startswith("COMMIT marker") for _, _, what in first) == 3
    assert [step for step, _, _ in last].count("6") == [step for step, _, _ in first].count("6") == 3
    assert f"group {name}-group: {name}-purchases-0 to 2" in [what for _, _, what in last]


def test_an_open_transaction_is_described_as_far_as_it_got(cli: Cli, shop: Producer, name: str) -> None:
    shop.begin_transaction()
    sell(shop, name, 1)
    shown = cli("txn", "describe", name)
    assert "Ongoing" in shown.lines[1]
    assert "open since" in shown.lines[2]
    assert {step for step, _, _ in steps(cli, name)} == {"1, 2", "5", "6", "7", "8"}
    shop.abort_transaction()


def test_blockers_say_who_holds_whom_since_when_and_until_when(
    cli: Cli, shop: Producer, name: str, request: pytest.FixtureRequest
) -> None:
    cli("produce", f"{name}-invoices", typed="before\n")
    cli("consume", f"{name}-invoices", "-g", f"{name}-readers")
    shop.begin_transaction()
    shop.send(f"{name}-invoices", value=b"open").result()
    cli("produce", f"{name}-invoices", typed="behind\n")
    [found] = cli("txn", "blockers", "--topic", f"{name}-invoices", "--json").json()
    assert found["transactional_id"] == name
    assert (found["first_offset"], found["end_offset"]) == (1, 3)
    assert found["until_ms"] - found["since_ms"] == 60_000
    assert found["groups_waiting"] == [f"{name}-readers"]
    assert not found["is_hanging"]
    if "fencepost" in request.node.callspec.id:
        assert found["client"].startswith("shop-app at 127.0.0.1")
    words = cli("txn", "blockers", "--topic", f"{name}-invoices").out
    assert "readers wait at offset 1; 2 offsets hidden behind it" in words
    assert f"fencepost txn abort {name}" in words
    cli("txn", "blockers", "--check", "--topic", f"{name}-invoices", exit_code=4)
    end(cli, shop, name)
    assert "Nobody is held back" in cli("txn", "blockers", "--check", "--topic", f"{name}-invoices").out


def test_an_abort_is_shown_first_then_fences_the_owner(cli: Cli, shop: Producer, name: str) -> None:
    shop.begin_transaction()
    sell(shop, name, 1)
    preview = cli("txn", "abort", name, "--json").json()
    lost = {row["partition"]: row["records"] for row in preview["lost"]}
    assert lost[f"{name}-invoices-0"] == 2
    assert lost[f"{name}-shipments-0"] == 1
    assert not preview["is_done"]
    states = {row["transactional_id"]: row["state"] for row in cli("txn", "list", "--open", "--json").json()}
    assert states[name] == "Ongoing"
    assert cli("txn", "abort", name, "--yes", "--json").json()["is_done"]
    with pytest.raises(ClientError):
        shop.commit_transaction()
    assert cli("consume", f"{name}-invoices").out == ""
    assert "no open transaction" in cli("txn", "abort", name, "--yes", exit_code=1).err


def test_one_partition_of_a_known_transaction_is_not_torn_out_of_it(cli: Cli, shop: Producer, name: str) -> None:
    shop.begin_transaction()
    shop.send(f"{name}-invoices", value=b"open", partition=0).result()
    identity = shop.identity
    assert identity is not None
    refused = cli(
        "txn", "abort", "--partition", f"{name}-invoices-0", "--producer-id", str(identity.producer_id), "--yes",
        exit_code=1,
    )  # fmt: skip
    assert f"fencepost txn abort {name}" in refused.err
    shop.abort_transaction()


def test_an_id_that_nobody_knows_is_an_error(cli: Cli, name: str) -> None:
    assert "fencepost txn list" in cli("txn", "describe", name, exit_code=1).err
    assert "fencepost txn list" in cli("txn", "abort", name, "--yes", exit_code=1).err


def test_the_list_can_be_narrowed_to_what_is_open_for_long(cli: Cli, shop: Producer, name: str) -> None:
    shop.begin_transaction()
    shop.send(f"{name}-invoices", value=b"open").result()
    ids = [row["transactional_id"] for row in cli("txn", "list", "--open", "--json").json()]
    assert name in ids
    assert name not in [row["transactional_id"] for row in cli("txn", "list", "--longer-than", "1h", "--json").json()]
    end(cli, shop, name)
    assert name not in [row["transactional_id"] for row in cli("txn", "list", "--open", "--json").json()]
    assert name in cli("txn", "list").out
