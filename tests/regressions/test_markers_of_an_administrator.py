"""A marker that an administrator writes with any coordinator epoch does not shut the coordinator itself out.

There is one coordinator. If a partition refused its markers, a commit would be confirmed and never be seen.
"""

import pytest

from fencepost.wire.messages.end_txn import EndTxnRequest
from fencepost.wire.messages.write_txn_markers import WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest
from tests.unit.broker.builders import Broker

EPOCH_MAX = 2**31 - 1


@pytest.mark.parametrize("restarts", [False, True])
def test_the_next_commit_is_seen(restarts: bool) -> None:
    broker = Broker()
    broker.create_topic("events")
    producer_id, epoch = broker.init_producer("shop-0")
    broker.produce_in_transaction("events", b"hangs", identity=(producer_id, epoch), transactional_id="shop-0")
    marker = WritableTxnMarker(
        producer_id=producer_id,
        producer_epoch=epoch,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic("events", [0])],
        coordinator_epoch=EPOCH_MAX,
    )
    reply = broker.ask(WriteTxnMarkersRequest(markers=[marker]), 1)
    assert reply.markers[0].topics[0].partitions[0].error_code == 0
    if restarts:
        broker = broker.restarted()
    identity = broker.init_producer("shop-0")
    written = broker.produce_in_transaction("events", b"sold", identity=identity, transactional_id="shop-0")
    assert written.error_code == 0
    assert broker.ask(EndTxnRequest("shop-0", *identity, True), 5).error_code == 0
    assert b"sold" in broker.values("events", isolation_level=1)
