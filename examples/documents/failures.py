"""Every failure that the documents list: how it is played, and what it does without the feature against it.

`harm` says what the version without the feature does to the books; with it they must balance. The tests are called
after these names, and the page `docs/documents-running.md` is written from them. `python -m examples.documents` plays
them all.
"""

from typing import NamedTuple

from examples.documents.failure_stories import (
    Story,
    broker_failure,
    consumer_failure_in_the_loop,
    downstream_consumer_failure,
    group_coordinator_failure,
    process_failure,
    producer_failure,
    producer_restart,
    send_failure,
    transaction_coordinator_failure,
)


class Failure(NamedTuple):
    name: str
    """As the tests are called: `test_<name>`."""
    heading: str
    strike: str
    story: Story
    without: str
    feature: str
    harm: frozenset[str]


REPEATED = frozenset({"repeated"})
REPEATED_AND_TORN = frozenset({"repeated", "torn"})
NO_HARM: frozenset[str] = frozenset()

DEEP_DIVE = (
    Failure(
        "kafka_producer_send_failure",
        "1. `KafkaProducer.send()` failure",
        "the broker stores an invoice, its answer is lost, the producer sends again",
        send_failure,
        "plain",
        "transactional",
        REPEATED_AND_TORN,
    ),
    Failure(
        "kafka_producer_failure",
        "2. `KafkaProducer` failure",
        "kill -9 between invoice and shipment, then a restart",
        producer_failure,
        "idempotent",
        "transactional",
        REPEATED_AND_TORN,
    ),
    Failure(
        "kafka_consumer_failure_in_the_consume_transform_produce_loop",
        "3. `KafkaConsumer` failure (the one being part of consume-transform-produce loop)",
        "an instance freezes between invoice and shipment, its partitions go to its peer, it wakes up and goes on",
        consumer_failure_in_the_loop,
        "idempotent",
        "transactional",
        REPEATED,
    ),
    Failure(
        "kafka_consumer_failure_consuming_from_target_topics",
        "4. `KafkaConsumer` failure (the one consuming from target topics)",
        "kill -9 of the reader of `invoices` between a payment and its commit; the log has an aborted invoice too",
        downstream_consumer_failure,
        "read_uncommitted",
        "transactional",
        REPEATED,
    ),
    Failure(
        "transaction_coordinator_failure",
        "4. Transaction coordinator",
        "kill -9 of the broker before it answers a commit; then of service and broker, with an invoice sent",
        transaction_coordinator_failure,
        "idempotent",
        "transactional",
        REPEATED_AND_TORN,
    ),
    Failure(
        "broker_failure",
        "5. Broker failure",
        "kill -9 of the broker when it has stored an invoice and not yet answered",
        broker_failure,
        "plain",
        "transactional",
        REPEATED_AND_TORN,
    ),
    Failure(
        "consumer_group_coordinator_failure",
        "6. Consumer group coordinator failure",
        "kill -9 of the broker when offsets are to be committed; the service gives up and is started again",
        group_coordinator_failure,
        "idempotent",
        "transactional",
        REPEATED,
    ),
)

IDEMPOTENCE = (
    Failure(
        "produce_request_timeout",
        "1. `ProduceRequest timeout`",
        "the broker stores an invoice, its answer is lost, the producer sends again",
        send_failure,
        "plain",
        "idempotent",
        REPEATED_AND_TORN,
    ),
    Failure(
        "producer_restart",
        "2. `Producer restart`",
        "kill -9 when the shipment is sent, before the offset is committed",
        producer_restart,
        "idempotent",
        "transactional",
        REPEATED,
    ),
    Failure(
        "broker_restart",
        "3. `Broker restart`",
        "kill -9 of the broker when it has stored an invoice and not yet answered",
        broker_failure,
        "plain",
        "idempotent",
        REPEATED_AND_TORN,
    ),
)

BOOK = (
    Failure(
        "case_1_failure_before_consumption",
        "1. Failure before consumption.",
        "kill -9 when partitions are assigned and nothing is polled",
        process_failure("before consumption:3"),
        "plain",
        "pinned",
        NO_HARM,
    ),
    Failure(
        "case_2_failure_after_consumption_but_before_the_transform",
        "2. Failure after consumption, but before the transform.",
        "kill -9 with a record polled",
        process_failure("consumed:2"),
        "plain",
        "pinned",
        NO_HARM,
    ),
    Failure(
        "case_3_failure_following_the_transform_but_before_publishing",
        "3. Failure following the transform, but before publishing.",
        "kill -9 with the square computed",
        process_failure("transformed:2"),
        "plain",
        "pinned",
        NO_HARM,
    ),
    Failure(
        "case_4_failure_after_publishing_but_before_confirming_the_offsets",
        "4. Failure after publishing, but before confirming the offsets.",
        "kill -9 with the square in the log",
        process_failure("published:2"),
        "plain",
        "pinned",
        REPEATED,
    ),
    Failure(
        "case_5_failure_after_committing_the_offsets",
        "5. Failure after committing the offsets.",
        "kill -9 behind the commit",
        process_failure("committed:2"),
        "plain",
        "pinned",
        NO_HARM,
    ),
)
