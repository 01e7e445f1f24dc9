"""What a reader sees of transactions: committed records, whole, and holes that are no loss."""

from fencepost.server.embedded import EmbeddedBroker
from tests.spark.source.broker_use import numbered, produce, run_transaction, transactional
from tests.spark.source.query import Query, batch_rows, values

KEPT, DROPPED = numbered("kept", 20), numbered("dropped", 20)
UNCOMMITTED = {"kafka.isolation.level": "read_uncommitted"}


def test_aborted_records_and_markers_are_not_rows_and_not_loss(broker: EmbeddedBroker) -> None:
    query = Query(broker, startingOffsets="earliest", maxOffsetsPerTrigger="7")
    produce(broker, "purchases", [b"plain"])
    run_transaction(broker, "purchases", KEPT)
    run_transaction(broker, "purchases", DROPPED, commits=False)
    run_transaction(broker, "purchases", [b"last"])
    rows = query.drain()
    assert values(rows) == [b"plain", *KEPT, b"last"]
    assert [row["offset"] for row in rows] == [0, *range(1, 21), 43]


def test_a_stream_comes_to_rest_behind_a_marker(broker: EmbeddedBroker) -> None:
    run_transaction(broker, "purchases", DROPPED, commits=False)
    query = Query(broker, startingOffsets="earliest")
    assert query.drain() == []
    assert query.last_offset["topics"]["purchases"]["partitions"] == {"0": 21}
    assert query.trigger() is None


def test_an_open_transaction_holds_the_stream_back_until_it_ends(broker: EmbeddedBroker) -> None:
    produce(broker, "purchases", [b"before"])
    query = Query(broker, startingOffsets="earliest")
    with transactional(broker) as producer:
        producer.begin_transaction()
        producer.send("purchases", value=b"inside", partition=0)
        producer.flush()
        produce(broker, "purchases", [b"behind"])
        assert values(query.drain()) == [b"before"]
        assert query.last_offset["topics"]["purchases"]["partitions"] == {"0": 1}
        producer.commit_transaction()
    assert values(query.drain()) == [b"inside", b"behind"]


def test_read_uncommitted_sees_open_and_aborted_records_but_no_markers(broker: EmbeddedBroker) -> None:
    run_transaction(broker, "purchases", DROPPED, commits=False)
    with transactional(broker) as producer:
        producer.begin_transaction()
        producer.send("purchases", value=b"open", partition=0)
        producer.flush()
        assert values(batch_rows(broker, **UNCOMMITTED)) == [*DROPPED, b"open"]
        assert batch_rows(broker) == []
        producer.abort_transaction()


def test_a_range_may_begin_and_end_inside_transactions(broker: EmbeddedBroker) -> None:
    run_transaction(broker, "purchases", DROPPED, commits=False)
    run_transaction(broker, "purchases", KEPT)
    bounds = {"startingOffsets": '{"purchases": {"0": 5}}', "endingOffsets": '{"purchases": {"0": 30}}'}
    assert values(batch_rows(broker, **bounds)) == KEPT[:9]
