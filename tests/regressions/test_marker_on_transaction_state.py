"""No request can put a marker on `__transaction_state`, and one that lies there does not keep the broker down."""

import pytest

from fencepost.broker.catalogue import TRANSACTION_TOPIC
from fencepost.broker.partition_log import PendingAppend
from fencepost.errors import ErrorCode
from fencepost.records.control import ControlMarker, build_marker
from fencepost.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost.wire.messages.end_txn import EndTxnRequest
from tests.unit.broker.builders import Broker


@pytest.mark.parametrize("is_commit", [True, False])
def test_the_transaction_log_cannot_be_added_to_a_transaction(is_commit: bool) -> None:
    broker = Broker()
    producer_id, producer_epoch = broker.init_producer("shop-0")
    topic = AddPartitionsToTxnTopic(TRANSACTION_TOPIC, [0])
    transaction = AddPartitionsToTxnTransaction("shop-0", producer_id, producer_epoch, False, [topic])
    reply = broker.ask(AddPartitionsToTxnRequest(transactions=[transaction]), 5)
    (partition,) = reply.results_by_transaction[0].topic_results[0].results_by_partition
    assert partition.partition_error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    broker.ask(EndTxnRequest("shop-0", producer_id, producer_epoch, is_commit), 5)
    assert broker.after_kill().init_producer("shop-0")[0] == producer_id


@pytest.mark.parametrize("is_commit", [True, False])
def test_a_control_batch_in_the_transaction_log_is_passed_over(is_commit: bool) -> None:
    broker = Broker()
    identity = broker.init_producer("shop-0")
    log = broker.core.log(TRANSACTION_TOPIC, 0)
    assert log is not None
    marker = ControlMarker(*identity, is_commit, 1, broker.now.wall_ms)
    broker.core.writer.append(PendingAppend(log, build_marker(**marker._asdict()), marker))
    broker.commit()
    again = broker.after_kill()
    assert list(again.core.state.transactions.transactions) == ["shop-0"]
