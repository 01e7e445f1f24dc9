"""Apache Kafka with `transaction.version` 1: the client takes the first flow there, as exact as the second one."""

from collections.abc import Iterator

import pytest

from fencepost.client import Producer
from fencepost.client.admin.admin import Admin
from fencepost.client.exceptions import FencedError
from fencepost.client.producer.transaction_manager import State
from fencepost.lab.apache_kafka import ApacheKafka
from tests.behaviour_client.conftest import SETTINGS
from tests.behaviour_client.fault_proxy import CUT_AFTER, CUT_BEFORE, FaultProxy, delay
from tests.behaviour_client.reading import values
from tests.behaviour_client.test_faults import TRANSACTION_APIS, run_transactions
from tests.peers import require_jars

pytestmark = [pytest.mark.kafka, pytest.mark.deep]
FIRST_FLOW = ("--feature", "transaction.version=1")


@pytest.fixture(scope="module")
def started() -> Iterator[ApacheKafka]:
    require_jars()
    with ApacheKafka(settings=SETTINGS, heap="512m", format_options=FIRST_FLOW) as broker:
        yield broker


@pytest.fixture
def servers(started: ApacheKafka) -> str:
    return started.bootstrap_servers


@pytest.mark.parametrize("api_name", TRANSACTION_APIS)
def test_transactions_are_exact_whatever_request_is_late_or_lost(
    proxy: FaultProxy, admin: Admin, topic: str, name: str, api_name: str
) -> None:
    run_transactions(proxy, admin, topic, name, api_name, [CUT_BEFORE, delay(0.05), CUT_AFTER, CUT_AFTER, CUT_BEFORE])
    # Two of the six may be aborted before anything of them is sent; each committed one adds its partitions.
    assert proxy.seen.count("AddPartitionsToTxn") >= 4


def test_a_newer_producer_fences_the_older_one(servers: str, topic: str, name: str) -> None:
    with Producer(servers, transactional_id=name) as older, Producer(servers, transactional_id=name) as newer:
        older.init_transactions()
        older.begin_transaction()
        older.send(topic, b"of the older", partition=0).result(30)
        newer.init_transactions()
        with newer.transaction() as txn:
            txn.send(topic, b"of the newer", partition=0)
        with pytest.raises(FencedError):
            older.commit_transaction()
        assert older.state is State.FATAL_ERROR
    assert values(servers, topic) == [b"of the newer"]
