"""Every failure that the documents list, as a story that can be played without and with the feature against it.

A story is given a stage and a version of its program, and returns the books. `harm` says what the version without the
feature does to them; with it they must balance. `python -m examples.documents` plays them all.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from examples.documents.accounts import Account, balance
from examples.documents.shop.__main__ import Shop
from examples.documents.shop.purchases import BILLING_GROUP_ID, INVOICES, PAYMENTS, Invoice
from examples.documents.squares.__main__ import Squares
from examples.documents.stage import Broker, Stage
from examples.documents.waiting import wait_for

Story = Callable[[Stage, str], Account]
ABANDONED_TIMEOUT_MS = 5000
GIVE_UP_AFTER_S = 12
PATIENT_SESSION_MS = 60_000
"""Longer than any broker takes to come back: a member that is not missed has only the failure itself to survive."""


class Failure(NamedTuple):
    name: str
    """As the tests are called: `test_<name>`."""
    heading: str
    strike: str
    story: Story
    without: str
    feature: str
    harm: frozenset[str]


def send_failure(stage: Stage, version: str) -> Account:
    shop = Shop(stage, version)
    with stage.lossy_network() as network:
        network.lose_answer("Produce", 3)
        shop.round(through=network)
    return shop.account()


def producer_failure(stage: Stage, version: str) -> Account:
    shop = Shop(stage, version)
    shop.round(kill_at="invoice sent:2")
    return shop.account()


def producer_restart(stage: Stage, version: str) -> Account:
    shop = Shop(stage, version)
    shop.round(kill_at="shipment sent:2")
    return shop.account()


def consumer_failure_in_the_loop(stage: Stage, version: str) -> Account:
    shop = Shop(stage, version)
    zombie, peer = shop.start(0, freeze_at="invoice sent:2"), shop.start(1)
    stage.wait_until_shared_out([zombie, peer])
    shop.buy()
    zombie.wait_until_said("SIGSTOP")
    shop.wait_until_done()
    zombie.thaw()
    wait_for("the zombie finds out", lambda: zombie.has_ended or "Revoked" in zombie.said, lambda: zombie.said)
    shop.wait_until_done()
    stage.stop_all()
    return shop.account()


def downstream_consumer_failure(stage: Stage, version: str) -> Account:
    """Upstream leaves an aborted invoice behind; then whoever reads the invoices is killed."""
    shop = Shop(stage, "transactional")
    stage.open_topics({PAYMENTS: 1})
    shop.round(kill_at="invoice sent:2")
    stage.skip_backlog(BILLING_GROUP_ID, INVOICES)
    billing = "examples.documents.shop.billing"
    given: dict[str, Any] = {"exactly_once": True} if version == "transactional" else {}
    stage.start(billing, **given, kill_at="payment sent:3").wait_until_killed()
    stage.start(billing, **given)
    stage.wait_until_consumed(BILLING_GROUP_ID, INVOICES)
    stage.stop_all()
    invoices = [Invoice.from_json(record.value).productId for record in stage.read(INVOICES)]
    payments = [Invoice.from_json(record.value).productId for record in stage.read(PAYMENTS)]
    return balance(invoices, {"payment": payments})


def transaction_coordinator_failure(stage: Stage, version: str) -> Account:
    """The coordinator dies before it answers a commit, and again while a transaction is open that nobody will end."""
    broker = _broker(stage)
    shop = Shop(stage, version)
    commit_api = "EndTxn" if version == "transactional" else "OffsetCommit"
    with stage.lossy_network() as network:
        network.lose_answer(commit_api, 2, then=lambda: _restart(broker))
        shop.start(0, through=network, session_timeout_ms=PATIENT_SESSION_MS)
        shop.buy()
        shop.wait_until_done()
        stage.stop_all()
    timeout: dict[str, Any] = {"transaction_timeout_ms": ABANDONED_TIMEOUT_MS} if version == "transactional" else {}
    abandoned = shop.start(0, kill_at="invoice sent:1", **timeout)
    shop.buy(1)
    abandoned.wait_until_killed()
    _restart(broker)
    wait_for("nobody's transaction is ended", lambda: not stage.is_blocked(INVOICES))
    shop.start(1)
    shop.wait_until_done()
    stage.stop_all()
    return shop.account()


def broker_failure(stage: Stage, version: str) -> Account:
    broker = _broker(stage)
    shop = Shop(stage, version)
    with stage.lossy_network() as network:
        network.lose_answer("Produce", 3, then=lambda: _restart(broker))
        shop.start(0, through=network, session_timeout_ms=PATIENT_SESSION_MS)
        shop.buy()
        shop.wait_until_done()
        stage.stop_all()
    return shop.account()


def group_coordinator_failure(stage: Stage, version: str) -> Account:
    """It dies on the request that commits offsets, and stays away until the service has given up."""
    broker = _broker(stage)
    shop = Shop(stage, version)
    with stage.lossy_network() as network:
        commit_api = "TxnOffsetCommit" if version == "transactional" else "OffsetCommit"
        network.lose_request(commit_api, 2, then=broker.kill)
        given = {"give_up_after_s": GIVE_UP_AFTER_S, "session_timeout_ms": PATIENT_SESSION_MS}
        service = shop.start(0, through=network, **given)
        shop.buy()
        wait_for("the coordinator is struck", lambda: network.is_done, lambda: service.said)
        service.wait_until_said("Error while processing purchase")
        broker.start()
        shop.start(0)
        shop.wait_until_done()
        stage.stop_all()
    return shop.account()


def process_failure(step: str) -> Story:
    """Two instances of the transform stage; one dies at this step, and the other takes over."""

    def story(stage: Stage, version: str) -> Account:
        squares = Squares(stage, version)
        struck = squares.start(kill_at=step)
        struck.wait_until_said("Assigned")
        peer = squares.start()
        peer.wait_until_said("Assigned")
        squares.feed()
        struck.wait_until_killed()
        squares.wait_until_done()
        stage.stop_all()
        return squares.account()

    return story


def _broker(stage: Stage) -> Broker:
    if stage.broker is None:
        raise RuntimeError("this story kills its broker: it cannot be played on one that is somebody else's")
    return stage.broker


def _restart(broker: Broker) -> None:
    broker.kill()
    broker.start()


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
