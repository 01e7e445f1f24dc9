import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.describe_transactions import DescribeTransactionsRequest
from fencepost.wire.messages.end_txn import EndTxnRequest
from tests.unit.broker.builders import Broker, batches_in, versions_of
from tests.unit.broker.handlers.test_add_partitions_to_txn import add

READ_COMMITTED = 1
CLASSIC_VERSIONS = [version for version in versions_of("EndTxn") if version < 5]


@pytest.fixture
def shop(broker: Broker) -> tuple[int, int]:
    broker.create_topic("orders", 2)
    return broker.init_producer("shop")


def end(broker: Broker, identity: tuple[int, int], *, committed: bool = True, version: int = 5):  # type: ignore[no-untyped-def]
    return broker.ask(EndTxnRequest("shop", *identity, committed), version)


def state_of(broker: Broker) -> str:
    return str(broker.ask(DescribeTransactionsRequest(["shop"])).transaction_states[0].transaction_state)


@pytest.mark.parametrize("version", CLASSIC_VERSIONS)
@pytest.mark.parametrize("committed", [True, False])
def test_the_classic_flow_ends_a_transaction_under_the_same_epoch(
    broker: Broker, shop: tuple[int, int], version: int, committed: bool
) -> None:
    add(broker, shop, 0)
    broker.produce_in_transaction("orders", b"a", identity=shop, transactional_id="shop", version=11)
    assert end(broker, shop, committed=committed, version=version).error_code == ErrorCode.NONE
    assert state_of(broker) == ("CompleteCommit" if committed else "CompleteAbort")
    add(broker, shop, 0)
    again = broker.produce_in_transaction(
        "orders", b"b", identity=shop, transactional_id="shop", version=11, base_sequence=1
    )
    assert again.error_code == ErrorCode.NONE


def test_everything_of_a_commit_becomes_visible_at_once_and_survives_a_kill(
    broker: Broker, shop: tuple[int, int]
) -> None:
    for partition in (0, 1):
        broker.produce_in_transaction("orders", b"a", identity=shop, transactional_id="shop", partition=partition)
    sent = broker.send(EndTxnRequest("shop", *shop, committed=True), 5)
    assert sent.reply is None
    assert broker.core.log("orders", 0).state.high_watermark == 1  # type: ignore[union-attr]
    broker.commit()
    assert sent.reply.error_code == ErrorCode.NONE
    for reader in (broker, broker.after_kill()):
        for partition in (0, 1):
            seen = reader.fetch("orders", partition, isolation_level=READ_COMMITTED)
            assert (seen.last_stable_offset, len(batches_in(seen.records))) == (2, 2)
            assert seen.aborted_transactions == []


@pytest.mark.parametrize(
    ("version", "error_code"),
    [(1, ErrorCode.INVALID_PRODUCER_EPOCH), (2, ErrorCode.PRODUCER_FENCED), (5, ErrorCode.PRODUCER_FENCED)],
)
def test_a_fenced_producer_is_told_so_in_the_words_of_the_version(
    broker: Broker, shop: tuple[int, int], version: int, error_code: ErrorCode
) -> None:
    broker.produce_in_transaction("orders", b"a", identity=shop, transactional_id="shop")
    broker.ask(EndTxnRequest("shop", *shop, committed=False), 5)
    broker.init_producer("shop")
    assert end(broker, shop, version=version).error_code == error_code
