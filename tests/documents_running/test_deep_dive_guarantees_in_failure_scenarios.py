"""The list of failures at the end of the deep dive into transactions, heading by heading."""

import pytest

from examples.documents import failures
from examples.documents.stage import Broker
from fencepost.lab.apache_kafka import ApacheKafka
from tests.documents_running.playing import OpenStage, play

FAILURES = {failure.name: failure for failure in failures.DEEP_DIVE}


def test_kafka_producer_send_failure(open_stage: OpenStage) -> None:
    play(FAILURES["kafka_producer_send_failure"], open_stage)


def test_kafka_producer_failure(open_stage: OpenStage) -> None:
    play(FAILURES["kafka_producer_failure"], open_stage)


def test_kafka_consumer_failure_in_the_consume_transform_produce_loop(open_stage: OpenStage) -> None:
    play(FAILURES["kafka_consumer_failure_in_the_consume_transform_produce_loop"], open_stage)


def test_kafka_consumer_failure_consuming_from_target_topics(open_stage: OpenStage) -> None:
    play(FAILURES["kafka_consumer_failure_consuming_from_target_topics"], open_stage)


def test_transaction_coordinator_failure(open_stage: OpenStage, request: pytest.FixtureRequest, broker: Broker) -> None:
    if isinstance(broker, ApacheKafka):
        # Seen with `fencepost txn blockers`: the coordinator says CompleteAbort, the partition never got the marker.
        reason = "Apache Kafka 4.3.1 may leave a hanging transaction when it is killed and the timeout passes meanwhile"
        request.applymarker(pytest.mark.xfail(reason=reason, strict=False))
    play(FAILURES["transaction_coordinator_failure"], open_stage)


def test_broker_failure(open_stage: OpenStage) -> None:
    play(FAILURES["broker_failure"], open_stage)


def test_consumer_group_coordinator_failure(open_stage: OpenStage) -> None:
    play(FAILURES["consumer_group_coordinator_failure"], open_stage)
