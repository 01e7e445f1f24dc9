"""Every error code of the client's table, in every request that producers make: each leads where its category says.

The proxy refuses the request in the broker's name. Retriable codes go unnoticed, abortable ones cost the transaction
and not the producer, fenced and fatal ones are the end: the producer never sends again.
"""

from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest

from fencepost.client import Producer
from fencepost.client.error_table import BY_REQUEST, EXCEPTIONS, Category, meaning_of
from fencepost.client.exceptions import ClientError, RecordTooLarge
from fencepost.client.producer.settlement import NUMBER_REFUSED, STORED
from fencepost.client.producer.transaction_manager import State
from fencepost.errors import ErrorCode
from tests.behaviour_client.conftest import one_broker
from tests.behaviour_client.fault_proxy import FaultProxy, refuse
from tests.behaviour_client.reading import values
from tests.interop.support import wait_for

pytestmark = one_broker
QUICK = {"retry_backoff_ms": 2, "retry_backoff_max_ms": 10, "linger_ms": 0}
CODES = sorted(EXCEPTIONS, key=lambda code: code.name)
ANY_FLOW = ["Produce", "TxnOffsetCommit", "EndTxn"]
FIRST_FLOW = ["AddPartitionsToTxn", "AddOffsetsToTxn"]
WITHIN_TRANSACTION = [
    *(("fencepost", api_name, code) for api_name in ANY_FLOW for code in CODES),
    *(("classic", api_name, code) for api_name in FIRST_FLOW for code in CODES),
]
READS = {"OffsetCommit"}
"""Tested in test_consumer_error_codes.py."""
WRITES = {"Produce", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn", "InitProducerId"}


@pytest.fixture
def producer(proxy: FaultProxy, name: str) -> Iterator[Producer]:
    with Producer(proxy.bootstrap_servers, transactional_id=name, **QUICK) as made:
        yield made


def attempt(producer: Producer, topic: str, name: str, value: bytes) -> None:
    producer.begin_transaction()
    producer.send(topic, value, partition=0)
    producer.flush(30)
    producer.send_offsets_to_transaction({(topic, 0): 1}, name)
    producer.commit_transaction()


def check_it_never_sends_again(proxy: FaultProxy, producer: Producer, topic: str, error: type[ClientError]) -> None:
    assert producer.state is State.FATAL_ERROR
    sent = [api_name for api_name in proxy.seen if api_name in WRITES]
    for call in (
        producer.init_transactions,
        producer.begin_transaction,
        producer.commit_transaction,
        producer.abort_transaction,
        lambda: producer.send(topic, b"never", partition=0),
    ):
        with pytest.raises(error):
            call()
    producer.close()
    assert [api_name for api_name in proxy.seen if api_name in WRITES] == sent


@pytest.mark.parametrize(
    ("servers", "api_name", "code"),
    WITHIN_TRANSACTION,
    indirect=["servers"],
    ids=[f"{flow}-{api_name}-{code.name}" for flow, api_name, code in WITHIN_TRANSACTION],
)
def test_a_code_within_a_transaction_leads_where_its_category_says(
    servers: str, proxy: FaultProxy, producer: Producer, topic: str, name: str, api_name: str, code: ErrorCode
) -> None:
    category, error = meaning_of(code, api_name)
    producer.init_transactions()
    proxy.plan(api_name, refuse(code))
    if category is Category.RETRIABLE:
        attempt(producer, topic, name, b"first")
        assert values(servers, topic) == [b"first"]
    elif api_name == "Produce" and code in STORED:
        attempt(producer, topic, name, b"taken for stored")
        assert producer.state is State.READY
    else:
        with pytest.raises(error) as raised:
            attempt(producer, topic, name, b"first")
        assert raised.value.error_code is code
        assert code.name in str(raised.value)
        if category is Category.ABORTABLE:
            assert producer.state is State.ABORTABLE_ERROR
            producer.abort_transaction()
            attempt(producer, topic, name, b"again")
            assert values(servers, topic) == [b"again"]
        else:
            check_it_never_sends_again(proxy, producer, topic, error)
    assert proxy.used == [(api_name, refuse(code))]


@pytest.mark.parametrize("code", CODES, ids=[code.name for code in CODES])
def test_a_code_that_answers_the_first_call_is_passed_over_or_the_end(
    servers: str, proxy: FaultProxy, producer: Producer, topic: str, name: str, code: ErrorCode
) -> None:
    category, error = meaning_of(code, "InitProducerId")
    proxy.plan("InitProducerId", refuse(code))
    if category is Category.RETRIABLE:
        producer.init_transactions()
        attempt(producer, topic, name, b"first")
        assert values(servers, topic) == [b"first"]
    else:
        with pytest.raises(error) as raised:
            producer.init_transactions()
        assert raised.value.error_code is code
        check_it_never_sends_again(proxy, producer, topic, ClientError)


@pytest.mark.parametrize("code", CODES, ids=[code.name for code in CODES])
def test_a_code_that_answers_a_batch_outside_of_transactions_costs_at_most_that_batch(
    servers: str, proxy: FaultProxy, topic: str, code: ErrorCode
) -> None:
    category, error = meaning_of(code, "Produce")
    with Producer(proxy.bootstrap_servers, **QUICK) as producer:
        producer.send(topic, b"before", partition=0).result(30)
        proxy.plan("Produce", refuse(code))
        refused = producer.send(topic, b"refused", partition=0)
        found = refused.exception(30)
        producer.send(topic, b"after", partition=0).result(30)
    if category is Category.RETRIABLE or code in NUMBER_REFUSED:
        assert found is None
        assert values(servers, topic) == [b"before", b"refused", b"after"]
    else:
        assert found is None if code in STORED else isinstance(found, error)
        assert values(servers, topic) == [b"before", b"after"]


def send_record(producer: Producer, topic: str) -> None:
    producer.send(topic, b"first", partition=0).result(30)


def send_table(producer: Producer, topic: str) -> None:
    """Its producer id is asked for while it is encoded, so the refusal may come at once or with the result."""
    producer.send_arrow(topic, pa.table({"value": [b"first"], "partition": pa.array([0], pa.int32())})).result(30)


@pytest.mark.parametrize("code", CODES, ids=[code.name for code in CODES])
@pytest.mark.parametrize("send", [send_record, send_table])
def test_without_a_producer_id_nothing_is_sent_and_the_caller_hears_why(
    servers: str, proxy: FaultProxy, topic: str, code: ErrorCode, send: Callable[[Producer, str], None]
) -> None:
    category, error = meaning_of(code, "InitProducerId")
    with Producer(proxy.bootstrap_servers, **QUICK) as producer:
        proxy.plan("InitProducerId", refuse(code))
        if category is Category.RETRIABLE:
            send(producer, topic)
            assert values(servers, topic) == [b"first"]
        else:
            with pytest.raises(error):
                send(producer, topic)
            assert "Produce" not in proxy.seen


def test_a_producer_id_is_asked_for_before_there_is_a_batch(proxy: FaultProxy, topic: str) -> None:
    with Producer(proxy.bootstrap_servers, max_request_size=2000, **QUICK) as producer:
        with pytest.raises(RecordTooLarge):
            producer.send_arrow(topic, pa.table({"value": [b"v" * 5000]}))
        wait_for("a producer id", lambda: "InitProducerId" in proxy.seen)
        assert "Produce" not in proxy.seen


def test_every_exception_by_request_is_about_a_request_that_is_tested() -> None:
    assert {api_name for api_name, _ in BY_REQUEST} <= WRITES | READS
