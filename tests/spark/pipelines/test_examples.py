"""The documents' pipelines, each run to its end: what is written is the function of what was read, and the lag is
zero.
"""

import json
import struct
from collections import Counter

import pytest

from tests.spark.pipelines.use import Drained, as_bytes, create, example, lag, one, read, read_headers, write

pytestmark = pytest.mark.timeout(3600)
PURCHASES = [
    {
        "userId": f"u{n % 7}",
        "userFullName": None if n % 5 == 0 else "Ada",
        "productId": f"p{n}",
        "quantity": n + 1,
        "totalPrice": n / 4,
    }
    for n in range(60)
]
UNREADABLE = [
    b"not json",
    b"",
    None,
    b'{"userId": "u"}',
    b'{"userId": "u", "productId": "p", "quantity": "many", "totalPrice": 1}',
]


def test_every_purchase_has_one_invoice_and_one_shipment_and_the_unreadable_are_dead_letters(spark, cluster, tmp_path):
    create(cluster, "purchases", "invoices", "shipments", "purchases.dead-letters")
    write(cluster, "purchases", [(b"k%d" % n, as_bytes(row)) for n, row in enumerate(PURCHASES)])
    write(cluster, "purchases", [(b"bad%d" % n, value) for n, value in enumerate(UNREADABLE)])
    run = Drained(spark, one("shop"), cluster, tmp_path)

    invoices = {key: json.loads(value) for key, value in read(cluster, "invoices")}
    assert invoices == {
        b"k%d" % n: {name: row[name] for name in ("userId", "productId", "quantity", "totalPrice")}
        for n, row in enumerate(PURCHASES)
    }
    shipments = {key: json.loads(value) for key, value in read(cluster, "shipments")}
    assert len({shipment.pop("id") for shipment in shipments.values()}) == len(PURCHASES)
    assert shipments == {
        b"k%d" % n: {
            "productId": row["productId"],
            "userFullName": row["userFullName"],
            "address": "SomeStreet 12/18, 00-006 Warsaw",
            "quantity": row["quantity"],
        }
        for n, row in enumerate(PURCHASES)
    }
    letters = dict(read(cluster, "purchases.dead-letters"))
    assert letters == {b"bad%d" % n: value for n, value in enumerate(UNREADABLE)}
    assert {row["fencepost.topic"] for row in read_headers(cluster, "purchases.dead-letters")} == {b"purchases"}
    assert run.row_count == 2 * len(PURCHASES) + len(UNREADABLE) == 2 * 60 + 5
    assert len(read(cluster, "invoices")) == len(read(cluster, "shipments")) == len(PURCHASES)
    assert lag(cluster, "purchases", "fencepost.default.shop") == 0


def test_squares_are_written_as_kafkas_integer_serializer_writes_them_and_wrap_as_java_does(spark, servers, tmp_path):
    numbers = [0, 1, -1, 12, 999, 46340, 46341, -46341, 2**31 - 1, -(2**31)]
    create(servers, "tx-input", "tx-output", "tx-input.dead-letters")
    write(servers, "tx-input", [(b"%d" % number, struct.pack(">i", number)) for number in numbers])
    write(servers, "tx-input", [(b"short", b"\x00\x01"), (b"long", b"\x00" * 8), (b"none", None)])
    Drained(spark, one("squares"), servers, tmp_path)

    wrapped = {number: (number * number + 2**31) % 2**32 - 2**31 for number in numbers}
    found = {int(key): struct.unpack(">i", value)[0] for key, value in read(servers, "tx-output")}
    assert found == wrapped
    assert len(read(servers, "tx-output")) == len(numbers)
    assert {key for key, _ in read(servers, "tx-input.dead-letters")} == {b"short", b"long", b"none"}
    assert lag(servers, "tx-input", "fencepost.default.squares") == 0


def test_the_chain_of_transfers_balances_and_overdrawn_accounts_adds_up_over_several_micro_batches(
    spark, cluster, tmp_path
):
    accounts = ["alice", "bob", "carol"]
    stages = {stage.name: stage for stage in example("chain")}
    create(cluster, "transfer", *{topic for stage in stages.values() for topic in stage.writes})
    expected: Counter[str] = Counter()
    overdrawn_seen = 0
    for turn in range(2):
        transfers = [
            {"number": f"{turn}-{n}", "payer": accounts[n % 3], "payee": accounts[(n + 1 + turn) % 3], "amount": n + 1}
            for n in range(20)
        ]
        write(cluster, "transfer", [(None, as_bytes(row)) for row in transfers])
        for row in transfers:
            expected[row["payer"]] -= row["amount"]
            expected[row["payee"]] += row["amount"]
        for name in ("transfer", "balances", "overdrawn"):
            Drained(spark, stages[name], cluster, tmp_path)
        newest = {json.loads(value)["account"]: json.loads(value)["balance"] for _, value in read(cluster, "balances")}
        assert newest == dict(expected)
        in_debt = {json.loads(value)["account"] for _, value in read(cluster, "overdrawn")[overdrawn_seen:]}
        assert in_debt >= {account for account, balance in expected.items() if balance < 0}
    updates = [json.loads(value) for _, value in read(cluster, "balance-update")]
    assert Counter(update["transfer"] for update in updates) == {
        f"{turn}-{n}": 2 for turn in range(2) for n in range(20)
    }
    assert len({(update["transfer"], update["kind"]) for update in updates}) == 80
    for topic, group in [("transfer", "transfer"), ("balance-update", "balances"), ("balances", "overdrawn")]:
        assert lag(cluster, topic, f"fencepost.default.{group}") == 0


def test_two_inputs_are_joined_whichever_comes_first_also_in_different_micro_batches(spark, servers, tmp_path):
    create(servers, "orders", "payments", "receipts", "payments.dead-letters")
    join = one("payments")
    orders = [(None, as_bytes({"orderId": f"o{n}", "product": f"p{n}"})) for n in range(12)]
    payments = [(None, as_bytes({"orderId": f"o{n}", "amount": n})) for n in range(12)]
    write(servers, "orders", orders[:8])
    write(servers, "payments", payments[4:])
    Drained(spark, join, servers, tmp_path)
    assert {key for key, _ in read(servers, "receipts")} == {b"o%d" % n for n in range(4, 8)}
    write(servers, "orders", orders[8:])
    write(servers, "payments", [*payments[:4], (b"x", b"no payment")])
    Drained(spark, join, servers, tmp_path)

    receipts = read(servers, "receipts")
    assert {key: json.loads(value) for key, value in receipts} == {
        b"o%d" % n: {"orderId": f"o{n}", "product": f"p{n}", "amount": n} for n in range(12)
    }
    assert len(receipts) == 12
    assert read(servers, "payments.dead-letters") == [(b"x", b"no payment")]
    assert lag(servers, "orders", "fencepost.default.payments") == 0
    assert lag(servers, "payments", "fencepost.default.payments") == 0
