"""Requests late, cut off before or after the broker did them, or refused: nothing lost, nothing twice, in order."""

import itertools

import pytest

from fencepost.client import Producer, TopicPartition
from fencepost.client.admin.admin import Admin
from fencepost.client.error_table import EXCEPTIONS
from fencepost.client.exceptions import (
    InvalidProducerIdMapping,
    OutOfOrderSequence,
    RecordTooLarge,
    RetriableError,
    Timeout,
    TransactionAbortable,
    UnknownServerError,
)
from fencepost.client.producer.transaction_manager import State
from fencepost.errors import ErrorCode
from tests.behaviour_client.conftest import one_broker, two_brokers, two_flows
from tests.behaviour_client.fault_proxy import CUT_AFTER, CUT_BEFORE, Fault, FaultProxy, delay, deny, refuse
from tests.behaviour_client.reading import values
from tests.interop.support import wait_for

RETRIABLE = [code for code, error in EXCEPTIONS.items() if issubclass(error, RetriableError)]
FAULTS: dict[str, list[Fault]] = {
    "cut before": [CUT_BEFORE] * 3,
    "cut after": [CUT_AFTER] * 3,
    "late": [delay(0.05)] * 3,
    "refused with every retriable code": [refuse(code) for code in RETRIABLE],
    "done, but denied with every retriable code": [deny(code) for code in RETRIABLE],
    "everything in turn": [CUT_BEFORE, deny(ErrorCode.REQUEST_TIMED_OUT), CUT_AFTER, CUT_AFTER, CUT_BEFORE],
}
QUICK = {"retry_backoff_ms": 2, "retry_backoff_max_ms": 10}
TRANSACTION_APIS = [
    "FindCoordinator",
    "InitProducerId",
    "AddPartitionsToTxn",
    "AddOffsetsToTxn",
    "TxnOffsetCommit",
    "EndTxn",
    "Produce",
    "Metadata",
]


def spread(faults: list[Fault]) -> list[Fault | None]:
    """A request that passes before, between and after the faults; two faults together as well."""
    planned: list[Fault | None] = [None, None]
    for index, fault in enumerate(faults):
        planned += [fault] if index % 3 == 1 else [fault, None]
    return planned


@two_brokers
@pytest.mark.parametrize("kind", FAULTS)
def test_an_idempotent_producer_loses_nothing_and_repeats_nothing(proxy: FaultProxy, topic: str, kind: str) -> None:
    plan = spread(FAULTS[kind])
    proxy.plan("Produce", *plan)
    with Producer(proxy.bootstrap_servers, batch_size=200, linger_ms=1, **QUICK) as producer:
        futures = []
        number = 0
        while proxy.unused or number < 200:
            futures.append(producer.send(topic, b"%0100d" % number, partition=1))
            number += 1
            if number % 20 == 0:
                producer.flush(30)
        producer.flush(30)
        assert [future.result(0).offset for future in futures if future.result(0).offset >= 0] != []
    assert [int(value or b"") for value in values(proxy_upstream(proxy), topic)] == list(range(number))


@two_brokers
@pytest.mark.parametrize(
    "code", [ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.INVALID_PRODUCER_EPOCH]
)
def test_a_number_that_was_refused_is_replaced_under_the_next_epoch(
    proxy: FaultProxy, topic: str, code: ErrorCode
) -> None:
    proxy.plan("Produce", None, None, refuse(code), None, None, None, None, None, refuse(code), refuse(code))
    with Producer(proxy.bootstrap_servers, batch_size=200, linger_ms=1, **QUICK) as producer:
        for number in range(200):
            producer.send(topic, b"%0100d" % number, partition=1)
        producer.flush(30)
    assert not proxy.unused
    assert [int(value or b"") for value in values(proxy_upstream(proxy), topic)] == list(range(200))


@two_brokers
def test_a_batch_that_is_refused_for_good_leaves_no_hole_for_those_behind_it(proxy: FaultProxy, topic: str) -> None:
    proxy.plan("Produce", None, None, refuse(ErrorCode.MESSAGE_TOO_LARGE), None, refuse(ErrorCode.INVALID_RECORD))
    with Producer(proxy.bootstrap_servers, batch_size=200, linger_ms=1, **QUICK) as producer:
        futures = [producer.send(topic, b"%0100d" % number, partition=1) for number in range(100)]
        producer.flush(30)
    failed = [number for number, future in enumerate(futures) if future.exception(0) is not None]
    assert failed
    assert any(isinstance(future.exception(0), RecordTooLarge) for future in futures)
    stored = [int(value or b"") for value in values(proxy_upstream(proxy), topic)]
    assert stored == [number for number in range(100) if number not in failed]


@two_brokers
def test_a_batch_whose_time_is_up_fails_and_those_behind_it_arrive_once(proxy: FaultProxy, topic: str) -> None:
    with Producer(proxy.bootstrap_servers, linger_ms=0, delivery_timeout_ms=400, **QUICK) as producer:
        producer.send(topic, b"first", partition=1).result(30)
        proxy.plan("Produce", CUT_AFTER, *[CUT_BEFORE] * 500)
        lost = producer.send(topic, b"second", partition=1)
        assert isinstance(lost.exception(30), RetriableError)
        proxy.forget_plans()
        for value in (b"third", b"fourth"):
            producer.send(topic, value, partition=1).result(30)
    # The first try was stored and its answer lost: the producer could not know.
    assert values(proxy_upstream(proxy), topic) == [b"first", b"second", b"third", b"fourth"]


@one_broker
def test_an_answer_that_never_comes_is_given_up_and_the_batch_goes_again(proxy: FaultProxy, topic: str) -> None:
    proxy.plan("Produce", None, delay(5))
    with Producer(proxy.bootstrap_servers, linger_ms=0, request_timeout_ms=300, **QUICK) as producer:
        for number in range(5):
            producer.send(topic, b"%d" % number, partition=1)
        producer.flush(30)
    assert values(proxy_upstream(proxy), topic) == [b"0", b"1", b"2", b"3", b"4"]


@two_brokers
def test_all_connections_cut_again_and_again_lose_nothing(proxy: FaultProxy, topic: str) -> None:
    with Producer(proxy.bootstrap_servers, batch_size=300, linger_ms=0, **QUICK) as producer:
        for number in range(600):
            producer.send(topic, b"%d" % number, partition=number % 3)
            if number % 100 == 50:
                proxy.cut_all()
        producer.flush(30)
    stored = [int(value or b"") for value in values(proxy_upstream(proxy), topic)]
    assert stored == [number for partition in range(3) for number in range(partition, 600, 3)]


@pytest.mark.parametrize("api_name", TRANSACTION_APIS)
def test_transactions_are_exact_whatever_request_is_late_or_lost(
    proxy: FaultProxy, admin: Admin, topic: str, name: str, api_name: str
) -> None:
    faults = [CUT_BEFORE, delay(0.05), CUT_AFTER, CUT_AFTER, CUT_BEFORE, delay(0.05)]
    run_transactions(proxy, admin, topic, name, api_name, faults)


@pytest.mark.parametrize("kind", ["refused with every retriable code", "done, but denied with every retriable code"])
@pytest.mark.parametrize("api_name", TRANSACTION_APIS)
@two_flows
def test_transactions_are_exact_whatever_request_is_refused(
    proxy: FaultProxy, admin: Admin, topic: str, name: str, api_name: str, kind: str
) -> None:
    faults = FAULTS[kind]
    if api_name == "Metadata":
        faults = [fault for fault in faults if fault.kind != "refuse"]
    run_transactions(proxy, admin, topic, name, api_name, faults)


def run_transactions(
    proxy: FaultProxy, admin: Admin, topic: str, name: str, api_name: str, faults: list[Fault]
) -> None:
    """Some transactions, committed and aborted, until all faults were met; then what is stored must be exact."""
    expected = []
    committed = 0
    with Producer(proxy.bootstrap_servers, transactional_id=name, batch_size=200, **QUICK) as producer:
        proxy.plan(api_name, *faults if api_name in ("InitProducerId", "FindCoordinator") else spread(faults))
        producer.init_transactions()
        for number in itertools.count():
            if number >= 6 and (not proxy.unused or number > 100 or proxy.seen.count(api_name) <= 1):
                break
            producer.begin_transaction()
            for part in range(5):
                producer.send(topic, b"%d.%d %s" % (number, part, b"x" * 100), partition=part % 2)
            producer.send_offsets_to_transaction({(topic, 0): number + 1}, name)
            if number % 3 == 2:
                producer.abort_transaction()
            else:
                producer.commit_transaction()
                expected.append(number)
                committed = number + 1
    stored = [(value or b"").split()[0] for value in values(proxy_upstream(proxy), topic)]
    parts = [part for part in range(5) if part % 2 == 0], [part for part in range(5) if part % 2]
    assert stored == [b"%d.%d" % (number, part) for some in parts for number in expected for part in some]
    where = TopicPartition(topic, 0)
    wait_for("the committed offset", lambda: admin.group_offsets(name)[where].offset == committed)


@pytest.mark.parametrize(
    ("code", "error", "state"),
    [
        (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, OutOfOrderSequence, State.ABORTABLE_ERROR),
        (ErrorCode.MESSAGE_TOO_LARGE, RecordTooLarge, State.ABORTABLE_ERROR),
        (ErrorCode.TRANSACTION_ABORTABLE, TransactionAbortable, State.ABORTABLE_ERROR),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, InvalidProducerIdMapping, State.FATAL_ERROR),
        (ErrorCode.UNKNOWN_SERVER_ERROR, UnknownServerError, State.FATAL_ERROR),
    ],
)
def test_a_refused_batch_decides_what_becomes_of_the_transaction(
    proxy: FaultProxy, topic: str, name: str, code: ErrorCode, error: type[Exception], state: State
) -> None:
    with Producer(proxy.bootstrap_servers, transactional_id=name, **QUICK) as producer:
        producer.init_transactions()
        with producer.transaction() as txn:
            txn.send(topic, b"before", partition=0)
        producer.begin_transaction()
        proxy.plan("Produce", refuse(code))
        producer.send(topic, b"refused", partition=0)
        with pytest.raises(error):
            producer.commit_transaction()
        assert producer.state is state
        if state is State.ABORTABLE_ERROR:
            producer.abort_transaction()
            with producer.transaction() as txn:
                txn.send(topic, b"after", partition=0)
    expected = [b"before", b"after"] if state is State.ABORTABLE_ERROR else [b"before"]
    assert values(proxy_upstream(proxy), topic) == expected


@pytest.mark.parametrize("fault", [CUT_BEFORE, CUT_AFTER], ids=["cut before", "cut after"])
@pytest.mark.parametrize("is_commit", [True, False], ids=["commit", "abort"])
def test_an_end_that_timed_out_is_called_again(
    proxy: FaultProxy, topic: str, name: str, fault: Fault, is_commit: bool
) -> None:
    with Producer(proxy.bootstrap_servers, transactional_id=name, max_block_ms=300, **QUICK) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"a", partition=0).result(30)
        end, other = producer.commit_transaction, producer.abort_transaction
        if not is_commit:
            end, other = other, end
        proxy.plan("EndTxn", fault, *[CUT_BEFORE] * 500)
        with pytest.raises(Timeout):
            end()
        ending = State.COMMITTING_TRANSACTION if is_commit else State.ABORTING_TRANSACTION
        assert producer.state is ending
        with pytest.raises(Exception, match=ending.name):
            other()
        proxy.forget_plans()
        end()
        assert producer.state is State.READY
        with producer.transaction() as txn:
            txn.send(topic, b"next", partition=0)
    assert values(proxy_upstream(proxy), topic) == ([b"a", b"next"] if is_commit else [b"next"])


def test_an_init_that_timed_out_is_called_again(proxy: FaultProxy, topic: str, name: str) -> None:
    with Producer(proxy.bootstrap_servers, transactional_id=name, max_block_ms=300, **QUICK) as producer:
        proxy.plan("InitProducerId", *[CUT_AFTER] * 500)
        with pytest.raises(Timeout):
            producer.init_transactions()
        assert producer.state is State.INITIALIZING
        proxy.forget_plans()
        producer.init_transactions()
        with producer.transaction() as txn:
            txn.send(topic, b"a")
    assert values(proxy_upstream(proxy), topic) == [b"a"]


def proxy_upstream(proxy: FaultProxy) -> str:
    host, port = proxy.upstream
    return f"{host}:{port}"
