"""A transaction that only a partition knows: nobody will ever end it, so it is found and aborted by hand."""

import pytest

from fencepost.client.cluster import Cluster
from fencepost.client.producer.produce_request import CLASSIC_TRANSACTIONS_UNTIL
from fencepost.client.settings import ClientSettings
from fencepost.client.time_limits import Deadline
from fencepost.client.transaction_control import TransactionControl
from fencepost.records.builder import build_batch
from fencepost.records.record import Record
from fencepost.server.embedded import EmbeddedBroker
from fencepost.types import TopicPartition
from fencepost.wire.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from tests.cli.conftest import SETTINGS
from tests.cli.running import Cli
from tests.peers import apache_kafka

TRUSTING = SETTINGS | {"transaction.partition.verification.enable": "false"}
WHERE = TopicPartition("orders", 0)


def write_without_the_coordinator(servers: str) -> int:
    """A transactional batch for a partition that was never added, as a late request leaves it. The producer id."""
    cluster = Cluster(servers, ClientSettings())
    control = TransactionControl(cluster, "late")
    identity = control.init_producer_id(transaction_timeout_ms=60_000, deadline=Deadline(60))
    batch = build_batch(
        [Record(timestamp_ms=1_700_000_000_000, value=b"late")],
        producer_id=identity.producer_id,
        producer_epoch=identity.producer_epoch,
        base_sequence=0,
        is_transactional=True,
    )
    request = ProduceRequest(
        transactional_id="late",
        acks=-1,
        timeout_ms=60_000,
        topic_data=[TopicProduceData(name=WHERE.topic, partition_data=[PartitionProduceData(0, batch)])],
    )
    cluster.refresh([WHERE.topic])
    leader = cluster.leader(WHERE)
    assert leader is not None
    answer = cluster.call(leader, request, ProduceResponse, at_most=CLASSIC_TRANSACTIONS_UNTIL)
    cluster.close()
    assert answer.responses[0].partition_responses[0].error_code == 0
    return identity.producer_id


def check_found_and_aborted(cli: Cli) -> None:
    cli("topics", "create", WHERE.topic, "--partitions", "1")
    producer_id = write_without_the_coordinator(cli.servers)
    cli("produce", WHERE.topic, typed="behind\n")
    assert cli("consume", WHERE.topic).out == ""
    [found] = cli("txn", "blockers", "--json").json()
    assert found["is_hanging"]
    assert found["until_ms"] is None
    hint = f"fencepost txn abort --partition orders-0 --producer-id {producer_id}"
    assert hint in cli("txn", "blockers").out
    assert "--yes" in cli(*hint.split()[1:]).err, "a preview"
    assert cli("consume", WHERE.topic).out == ""
    cli(*hint.split()[1:], "--yes")
    assert cli("consume", WHERE.topic).out == "behind\n"
    assert cli("txn", "blockers", "--json").json() == []


def test_a_hanging_transaction_is_found_and_aborted() -> None:
    with EmbeddedBroker(settings=TRUSTING) as broker:
        check_found_and_aborted(Cli(broker.bootstrap_servers))


@pytest.mark.kafka
@pytest.mark.deep
def test_a_hanging_transaction_is_found_and_aborted_on_apache_kafka() -> None:
    with apache_kafka(TRUSTING) as broker:
        check_found_and_aborted(Cli(broker.bootstrap_servers))
