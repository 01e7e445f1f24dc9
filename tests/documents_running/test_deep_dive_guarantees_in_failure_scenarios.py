"""The list of failures at the end of the deep dive into transactions, heading by heading."""

from examples.documents import failures
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


def test_transaction_coordinator_failure(open_stage: OpenStage) -> None:
    play(FAILURES["transaction_coordinator_failure"], open_stage)


def test_broker_failure(open_stage: OpenStage) -> None:
    play(FAILURES["broker_failure"], open_stage)


def test_consumer_group_coordinator_failure(open_stage: OpenStage) -> None:
    play(FAILURES["consumer_group_coordinator_failure"], open_stage)
