"""DescribeProducers, DescribeTransactions, ListTransactions, and the timeout that ends what nobody ends."""

import pytest

from fencepost.errors import ErrorCode
from fencepost.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from fencepost.wire.messages.describe_transactions import DescribeTransactionsRequest
from fencepost.wire.messages.list_transactions import ListTransactionsRequest
from tests.behaviour.peer import Peer, until
from tests.behaviour.producing import batch_of, committed_values, fetch, produce
from tests.behaviour.transactional_producer import CLASSIC, EPOCH_PER_TRANSACTION, TransactionalProducer

BOTH_FLOWS = pytest.mark.parametrize("flow", [CLASSIC, EPOCH_PER_TRANSACTION])


def describe_producers(peer: Peer, topic: str, partition: int = 0):  # type: ignore[no-untyped-def]
    request = DescribeProducersRequest([TopicRequest(topic, [partition])])
    return peer.put(request, 0).topics[0].partitions[0]


def listed(peer: Peer, version: int = 2, **filters: object) -> tuple[int, dict[str, str]]:
    answer = peer.put(ListTransactionsRequest(**filters), version)  # type: ignore[arg-type]
    return answer.error_code, {each.transactional_id: each.transaction_state for each in answer.transaction_states}


def test_a_producer_is_described_with_its_open_transaction(peer: Peer) -> None:
    topic = peer.create_topic()
    produce(peer.client, topic, batch_of(b"before"))
    producer = TransactionalProducer(peer, CLASSIC)
    producer.write(topic, b"a", b"b")
    [state] = describe_producers(peer, topic).active_producers
    assert (state.producer_id, state.producer_epoch) == (producer.producer_id, producer.producer_epoch)
    assert (state.last_sequence, state.current_txn_start_offset, state.coordinator_epoch) == (1, 1, -1)
    producer.commit()
    [state] = describe_producers(peer, topic).active_producers
    assert (state.last_sequence, state.current_txn_start_offset) == (1, -1)
    assert state.coordinator_epoch >= 0


def test_producers_of_an_unknown_partition_are_not_described(peer: Peer) -> None:
    topic = peer.create_topic()
    assert describe_producers(peer, topic, 5).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert describe_producers(peer, peer.name("absent")).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_transaction_is_described_from_first_to_last(peer: Peer) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, CLASSIC, timeout_ms=45_000)
    empty = producer.describe()
    assert (empty.error_code, empty.transaction_state, empty.transaction_start_time_ms) == (0, "Empty", -1)
    assert (empty.transaction_timeout_ms, empty.topics) == (45_000, [])
    producer.write(topic)
    ongoing = producer.describe()
    assert (ongoing.transaction_state, ongoing.producer_id) == ("Ongoing", producer.producer_id)
    assert ongoing.transaction_start_time_ms > 0
    producer.commit()
    done = producer.describe()
    assert (done.transaction_state, done.topics) == ("CompleteCommit", [])


def test_unknown_and_empty_ids_are_named(peer: Peer) -> None:
    request = DescribeTransactionsRequest([peer.name("never-seen"), ""])
    codes = [each.error_code for each in peer.put(request, 0).transaction_states]
    assert codes == [ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, ErrorCode.INVALID_REQUEST]


def test_transactions_are_listed_by_state_producer_and_pattern(peer: Peer) -> None:
    ongoing, empty = TransactionalProducer(peer, CLASSIC), TransactionalProducer(peer, CLASSIC)
    ongoing.write(peer.create_topic())
    both = {ongoing.transactional_id: "Ongoing", empty.transactional_id: "Empty"}
    ids = [ongoing.producer_id, empty.producer_id]
    assert listed(peer, producer_id_filters=ids) == (0, both)
    of_state = listed(peer, producer_id_filters=ids, state_filters=["Ongoing"])
    assert of_state == (0, {ongoing.transactional_id: "Ongoing"})
    pattern = listed(peer, transactional_id_pattern=f"{empty.transactional_id[:-1]}.")
    assert empty.transactional_id in pattern[1]
    assert listed(peer, transactional_id_pattern=empty.transactional_id[:5]) == (0, {})
    assert listed(peer, transactional_id_pattern="[")[0] == ErrorCode.INVALID_REGULAR_EXPRESSION
    long = listed(peer, producer_id_filters=ids, state_filters=["Ongoing"], duration_filter=600_000)
    assert long == (0, {})


def test_unknown_states_are_told(peer: Peer) -> None:
    answer = peer.put(ListTransactionsRequest(state_filters=["Ongoing", "Nonsense"]), 0)
    assert (answer.error_code, answer.unknown_state_filters) == (0, ["Nonsense"])


@BOTH_FLOWS
def test_a_transaction_that_nobody_ends_is_aborted_and_its_producer_fenced(peer: Peer, flow: int) -> None:
    topic = peer.create_topic()
    producer = TransactionalProducer(peer, flow, timeout_ms=1_000)
    producer.write(topic, b"forgotten")
    aborted = producer.wait_for_state("CompleteAbort")
    assert (aborted.producer_id, aborted.producer_epoch) == (producer.producer_id, producer.producer_epoch + 1)
    assert producer.produce(topic, b"late").error_code == ErrorCode.INVALID_PRODUCER_EPOCH
    late = producer.end(is_commit=True).error_code
    if flow == CLASSIC:
        assert late == ErrorCode.PRODUCER_FENCED
    else:
        assert late == peer.differs("commit-of-aborted", kafka=48, fencepost=90)
        assert producer.end(is_commit=False).error_code == 0
    answer = until(lambda: fetch(peer.client, topic), lambda found: found.last_stable_offset == found.high_watermark)
    assert answer.high_watermark == 2
    assert committed_values(peer.client, topic) == []
